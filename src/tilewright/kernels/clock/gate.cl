// Delays later launches by `nanoseconds`, so that the host can enqueue all of them before the first begins.

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gate(const ulong nanoseconds)
{
    const ulong begin = globaltimer();
    while (globaltimer() - begin < nanoseconds)
        ;
}
