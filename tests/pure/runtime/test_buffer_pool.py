"""Buffers of a device that are used again."""

from tilewright.runtime.opencl.pool import KEPT_BUFFERS, KEPT_SHARE, STEPS, BufferPool, rounded


def make(nbytes: int) -> bytearray:
    return bytearray(nbytes)


def test_sizes_are_rounded_by_little() -> None:
    for nbytes in (0, 1, 255, 256, 257, 4095, 4096, 4097, 10**6, 2**28, 2**28 + 1, 10**10):
        size = rounded(nbytes)
        assert nbytes <= size <= max(nbytes + nbytes // STEPS + 1, nbytes + 256)
        assert rounded(size) == size


def test_a_buffer_that_was_given_back_is_taken_again() -> None:
    pool = BufferPool(2**30, 0)
    first, second = pool.take(1000, make), pool.take(1000, make)
    assert first[1] is not second[1]
    pool.give([first, second])
    assert pool.take(1001, make)[1] is second[1], "the last one may still be in a cache"
    assert pool.take(1024, make)[1] is first[1]
    assert pool.take(2000, make)[1] is not first[1]


def test_the_idle_buffers_are_bounded() -> None:
    pool = BufferPool(KEPT_SHARE * 10_000, 0)
    pool.give([pool.take(4096, make) for _ in range(5)])
    assert pool.idle_bytes == 2 * 4096
    pool.give([pool.take(9000, make)])
    assert pool.idle_bytes == rounded(9000)
    small = BufferPool(2**30, 0)
    small.give([small.take(1, make) for _ in range(KEPT_BUFFERS + 5)])
    assert small.idle_bytes == KEPT_BUFFERS * rounded(1)
    nothing = BufferPool(0, 0)  # a device that does not say how much memory it has
    nothing.give([nothing.take(1, make)])
    assert nothing.idle_bytes == 0


def test_no_buffer_is_larger_than_the_device_allows() -> None:
    assert BufferPool(2**30, 5000).take(4999, make)[0] == 4999
    assert BufferPool(2**30, 5000).take(4000, make)[0] == rounded(4000)


def test_idle_buffers_are_released_once() -> None:
    pool = BufferPool(2**30, 0)
    pool.give([pool.take(4096, make)])
    assert pool.release()
    assert not pool.release()
    assert pool.idle_bytes == 0


def test_who_holds_buffers_for_later_gives_them_back_first() -> None:
    pool = BufferPool(2**30, 0)
    held = [pool.take(4096, make)]

    def give_to(pool: BufferPool) -> bool:
        pool.give(held)
        found = bool(held)
        held.clear()
        return found

    pool.holders.append(lambda: give_to(pool))
    assert pool.release()
    assert not held
    assert not pool.release()
    none = BufferPool(0, 0)  # which frees at once what it is given
    held.append(none.take(4096, make))
    none.holders.append(lambda: give_to(none))
    assert none.release()
    assert not none.release()
