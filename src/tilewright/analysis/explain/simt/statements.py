"""Compiles statements. Each is a function from the lanes that enter it to the lanes that continue after it."""

from ..clc.lexer import Position
from ..clc.tree import (
    Assembly,
    Block,
    Break,
    Call,
    Case,
    Continue,
    Declaration,
    ExpressionStatement,
    Function,
    Goto,
    If,
    Label,
    Loop,
    Parameter,
    Return,
    Statement,
    Switch,
)
from ..clc.types import Space, Struct, Void
from ..clc.walk import cases_of
from .address_taken import addressed_variables
from .assembly import compile_assembly
from .compiled_code import Frame, Memory, Register, Run, Step, Symbol
from .conditions import condition, switch_subject
from .context import FunctionCode, FunctionState
from .declarations import DeclarationCompiler
from .jumps import block_with_labels, check_target, jump, jumps_in, labels_of
from .masks import Mask
from .registers import merge
from .summing_loops import find_sum
from .switch_labels import enter, entries_of, has_case, labels_of_cases, open_block, open_branches, waiting, waits


class StatementCompiler(DeclarationCompiler):
    """Adds statements and functions."""

    def function(self, function: Function, position: Position) -> FunctionCode:
        if function.key in self.compiled:
            return self.compiled[function.key]
        if any(state.function.key == function.key for state in self.compiling):
            raise position.error(f"{function.name} calls itself, which OpenCL C does not allow")
        self.compiling.append(FunctionState(function, addressed_variables(function), [{}], jumps=jumps_in(function)))
        code = FunctionCode()
        for parameter in function.parameters:
            symbol = self.parameter(parameter)
            self.declare(parameter.name, symbol)
            code.parameters.append((parameter.name, symbol))
        code.body = self.with_presets(self.statement(function.body))
        code.slots = self.state.slots
        self.compiling.pop()
        self.compiled[function.key] = code
        return code

    def parameter(self, parameter: Parameter) -> Symbol:
        kind = parameter.type
        if isinstance(kind, Struct) or id(parameter) in self.state.addressed:
            address = self.machine.memory.private(parameter.name, kind.size, parameter.position).address
            return Memory(kind, lambda frame, mask: address, Space.PRIVATE, parameter.constant)
        return Register(self.new_slot(), kind, False, parameter.constant)

    def with_presets(self, body: Step) -> Step:
        """Where a jump may pass a declaration, its variable is there, and unset, from the beginning."""
        before = self.state.before

        def run(frame: Frame, mask: Mask) -> Mask:
            for each in before:
                each(frame, mask)
            return body(frame, mask)

        return run if before else body

    def statement(self, statement: Statement) -> Step:
        match statement:
            case Block():
                return self.block(statement)
            case Declaration():
                return self.declaration(statement)
            case ExpressionStatement():
                return self.expression_statement(statement)
            case If():
                return self.if_statement(statement)
            case Loop():
                return self.loop(statement)
            case Switch():
                return self.switch(statement)
            case Break():
                return self.break_out
            case Continue():
                return self.continue_loop
            case Return():
                return self.return_statement(statement)
            case Goto():
                check_target(statement, self.state.labels, self.state.function)
                return jump(statement.name)
            case Label():
                return _go_on
            case Case():
                return enter(statement)
            case Assembly():
                return compile_assembly(self, statement)
        raise statement.position.error("this statement is not supported")

    def block(self, block: Block) -> Step:
        labels = labels_of(block.statements)
        self.state.scopes.append({})
        self.state.labels.append(labels)
        steps = [self.statement(each) for each in block.statements]
        self.state.scopes.pop()
        self.state.labels.pop()
        entries = [self.entries(each) for each in block.statements]
        if labels:
            return block_with_labels(self.machine, block.statements, steps, labels, entries)
        if any(entries):
            return open_block(steps, entries)
        if len(steps) == 1:
            return steps[0]

        def run(frame: Frame, mask: Mask) -> Mask:
            for step in steps:
                mask = step(frame, mask)
                if not mask.any:
                    break
            return mask

        return run

    def entries(self, statement: Statement | None) -> tuple[int, ...]:
        """The cases inside at which a switch around the statement is entered."""
        return entries_of(statement) if self.state.switches and statement is not None else ()

    def declaration(self, declaration: Declaration) -> Step:
        runs = [self.variable(each) for each in declaration.variables]

        def run(frame: Frame, mask: Mask) -> Mask:
            for define in runs:
                define(frame, mask)
            return mask

        return run

    def expression_statement(self, statement: ExpressionStatement) -> Step:
        expression = statement.expression
        code = self.call(expression, used=False) if isinstance(expression, Call) else self.value(expression)
        evaluate = code.run

        def run(frame: Frame, mask: Mask) -> Mask:
            evaluate(frame, mask)
            return mask

        return run

    def if_statement(self, statement: If) -> Step:
        test = condition(self.value(statement.condition), statement.condition.position).run
        then = self.statement(statement.then)
        otherwise = None if statement.otherwise is None else self.statement(statement.otherwise)
        entries = self.entries(statement.then), self.entries(statement.otherwise)
        if any(entries):
            return open_branches(test, then, otherwise, entries)

        def run(frame: Frame, mask: Mask) -> Mask:
            known = test(frame, mask)
            if known.ndim == 0:
                if known:
                    return then(frame, mask)
                return mask if otherwise is None else otherwise(frame, mask)
            yes, no = mask.where(known), mask.except_where(known)
            through = then(frame, yes) if yes.any else yes
            if no.any:
                rest = no if otherwise is None else otherwise(frame, no)
                through = through.union(rest)
            return through

        return run

    def loop(self, loop: Loop) -> Step:
        self.state.scopes.append({})
        initial = None if loop.initial is None else self.statement(loop.initial)
        test = None if loop.condition is None else condition(self.value(loop.condition), loop.condition.position).run
        step = None if loop.step is None else self.value(loop.step).run
        body = self.statement(loop.body)
        together, entries = find_sum(self, loop, test), self.entries(loop.body)
        self.state.scopes.pop()
        iterate = self.iterations(loop, test, step, body, entries)

        def run(frame: Frame, mask: Mask) -> Mask:
            if initial is not None and (mask.any or not waits(frame, entries)):
                initial(frame, mask)
            if together is not None:
                together.advance(frame, mask)
            return iterate(frame, mask)

        return run

    def iterations(self, loop: Loop, test: Run | None, step: Run | None, body: Step, entries: tuple[int, ...]) -> Step:
        """A loop from its first test on. At `entries` it is entered in its middle."""
        machine, position, test_first = self.machine, loop.position, loop.test_first

        def run(frame: Frame, mask: Mask) -> Mask:
            entering = waits(frame, entries)
            outer = frame.breaks, frame.continues
            finished: Mask | None = None
            skip = not test_first
            while True:
                if test is not None and not skip and mask.any:
                    known = test(frame, mask)
                    if known.ndim:
                        finished = mask.except_where(known).union(finished)
                        mask = mask.where(known)
                    elif not known:
                        finished = mask.union(finished)
                        mask = mask.nobody()
                skip = False
                if not mask.any and not entering:
                    break
                machine.tick(position)
                machine.count_iterations(position, waiting(frame, mask, entries) if entering else mask)
                entering = False
                frame.breaks = frame.continues = None
                mask = body(frame, mask)
                if frame.breaks is not None:
                    finished = frame.breaks.union(finished)
                mask = mask.union(frame.continues)
                if not mask.any:
                    break
                if step is not None:
                    step(frame, mask)
            frame.breaks, frame.continues = outer
            return mask.nobody() if finished is None else finished

        return run

    def break_out(self, frame: Frame, mask: Mask) -> Mask:
        frame.breaks = mask.union(frame.breaks)
        return mask.nobody()

    def continue_loop(self, frame: Frame, mask: Mask) -> Mask:
        frame.continues = mask.union(frame.continues)
        return mask.nobody()

    def return_statement(self, statement: Return) -> Step:
        function = self.state.function
        machine = self.machine
        if statement.value is None:
            if not isinstance(function.result, Void):
                raise statement.position.error(f"{function.name} must return a {function.result}")
            if function.is_kernel and len(self.compiling) == 1:
                return self.leave_kernel
            return lambda frame, mask: mask.nobody()
        code = self.value(statement.value)
        self.check_assignable(code, function.result, statement.position)
        source = self.converted(code, function.result, statement.position).run

        def run(frame: Frame, mask: Mask) -> Mask:
            frame.result = merge(machine, mask, source(frame, mask), frame.result)
            return mask.nobody()

        return run

    def leave_kernel(self, frame: Frame, mask: Mask) -> Mask:
        self.machine.leave(mask)
        return mask.nobody()

    def switch(self, switch: Switch) -> Step:
        code = self.value(switch.subject)
        subject = switch_subject(code, switch.subject.position).run
        cases = tuple(cases_of(switch.body))
        labels = labels_of_cases(cases, code.type)
        entries = [(label, id(case)) for label, case in zip(labels, cases, strict=True)]
        self.state.switches += 1
        body = self.statement(switch.body)
        self.state.switches -= 1

        def run(frame: Frame, mask: Mask) -> Mask:
            value = subject(frame, mask)
            outer = frame.breaks
            frame.breaks = None
            entered = mask.nobody()
            for label, entry in entries:
                here = (
                    mask.where(label.holds(value)) if label is not None else mask.except_where(has_case(labels, value))
                )
                if here.any:
                    frame.entries[entry] = here
                    entered = entered.union(here)
            running = body(frame, mask.nobody()) if entered.any else entered
            through = mask.without(entered).union(running).union(frame.breaks)
            frame.breaks = outer
            return through

        return run


def _go_on(frame: Frame, mask: Mask) -> Mask:
    """A label does nothing by itself."""
    return mask
