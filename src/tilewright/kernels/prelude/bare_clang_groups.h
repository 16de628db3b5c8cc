// Atomic functions, fences, copies by whole groups and sub-groups, for clang alone.

// OpenCL 1.2's atomic functions order nothing. They take both spaces and both signs, so they are macros.
#define TW_ATOMIC(operation, p, v) __scoped_atomic_fetch_##operation((p), (v), __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define atomic_add(p, v) TW_ATOMIC(add, p, v)
#define atomic_sub(p, v) TW_ATOMIC(sub, p, v)
#define atomic_inc(p) TW_ATOMIC(add, p, 1)
#define atomic_dec(p) TW_ATOMIC(sub, p, 1)
#define atomic_min(p, v) TW_ATOMIC(min, p, v)
#define atomic_max(p, v) TW_ATOMIC(max, p, v)
#define atomic_and(p, v) TW_ATOMIC(and, p, v)
#define atomic_or(p, v) TW_ATOMIC(or, p, v)
#define atomic_xor(p, v) TW_ATOMIC(xor, p, v)
#define TW_EXCHANGES(type, space)                                                                                  \
    TW_BUILTIN type atomic_xchg(volatile space type* p, type v)                                                    \
    {                                                                                                              \
        return __scoped_atomic_exchange_n(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);                          \
    }                                                                                                              \
    TW_BUILTIN type atomic_cmpxchg(volatile space type* p, type expected, type v)                                  \
    {                                                                                                              \
        __scoped_atomic_compare_exchange_n(p, &expected, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED,                 \
                                           __MEMORY_SCOPE_DEVICE);                                                 \
        return expected;                                                                                           \
    }
TW_EXCHANGES(int, __global) TW_EXCHANGES(int, __local) TW_EXCHANGES(uint, __global) TW_EXCHANGES(uint, __local)
TW_EXCHANGES(long, __global) TW_EXCHANGES(long, __local) TW_EXCHANGES(ulong, __global) TW_EXCHANGES(ulong, __local)
TW_BUILTIN float atomic_xchg(volatile __global float* p, float v)
{
    return as_float(atomic_xchg((volatile __global int*)p, as_int(v)));
}
TW_BUILTIN float atomic_xchg(volatile __local float* p, float v)
{
    return as_float(atomic_xchg((volatile __local int*)p, as_int(v)));
}
#define atom_add atomic_add
#define atom_sub atomic_sub
#define atom_inc atomic_inc
#define atom_dec atomic_dec
#define atom_min atomic_min
#define atom_max atomic_max
#define atom_and atomic_and
#define atom_or atomic_or
#define atom_xor atomic_xor
#define atom_xchg atomic_xchg
#define atom_cmpxchg atomic_cmpxchg

#if defined(__AMDGCN__)
#define TW_FENCE __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup")
#elif defined(__NVPTX__)
#define TW_FENCE __nvvm_membar_cta()
#else
#define TW_FENCE __sync_synchronize()
#endif
TW_BUILTIN void mem_fence(cl_mem_fence_flags flags) { TW_FENCE; }
TW_BUILTIN void read_mem_fence(cl_mem_fence_flags flags) { TW_FENCE; }
TW_BUILTIN void write_mem_fence(cl_mem_fence_flags flags) { TW_FENCE; }
#if defined(__AMDGCN__) || defined(__NVPTX__)
#define work_group_barrier(...) barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

// Copies by the whole group, as drivers make them: each work-item moves every n-th element.
#define TW_COPY(type, to_space, from_space)                                                                        \
    TW_BUILTIN event_t async_work_group_strided_copy(to_space type* to, const from_space type* from, size_t count, \
                                                     size_t to_step, size_t from_step, event_t event)              \
    {                                                                                                              \
        const size_t lanes = get_local_size(0) * get_local_size(1) * get_local_size(2);                            \
        for (size_t i = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0); \
             i < count; i += lanes)                                                                                \
            to[i * to_step] = from[i * from_step];                                                                 \
        return event;                                                                                              \
    }                                                                                                              \
    TW_BUILTIN event_t async_work_group_copy(to_space type* to, const from_space type* from, size_t count, event_t event) \
    {                                                                                                              \
        return async_work_group_strided_copy(to, from, count, 1, 1, event);                                        \
    }
#define TW_COPIES(type) TW_COPY(type, __local, __global) TW_COPY(type, __global, __local)
#define TW_COPIES_OF_WIDTHS(type) TW_ALL_WIDTHS(TW_COPIES, type)
TW_TYPES(TW_COPIES_OF_WIDTHS)
#define wait_group_events(count, events) barrier(CLK_LOCAL_MEM_FENCE)
#define prefetch(p, count)

// Sub-groups: warps and wavefronts. Sums and scans go by shuffles in log n steps, which a vendor's library may do otherwise.
#if defined(__AMDGCN__)
TW_BUILTIN uint get_max_sub_group_size(void) { return __builtin_amdgcn_wavefrontsize(); }
TW_BUILTIN uint get_sub_group_local_id(void)
{
    const uint low = __builtin_amdgcn_mbcnt_lo(~0u, 0);
    return get_max_sub_group_size() == 64 ? __builtin_amdgcn_mbcnt_hi(~0u, low) : low;
}
TW_BUILTIN int tw_shuffle(int value, uint lane) { return __builtin_amdgcn_ds_bpermute(lane * 4, value); }
#else
TW_BUILTIN uint get_max_sub_group_size(void) { return 32; }
TW_BUILTIN uint get_sub_group_local_id(void) { return __nvvm_read_ptx_sreg_laneid(); }
TW_BUILTIN int tw_shuffle(int value, uint lane) { return __nvvm_shfl_sync_idx_i32(~0u, value, lane, 31); }
#endif
TW_BUILTIN uint tw_flat_local_id(void)
{
    return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}
TW_BUILTIN uint tw_group_items(void) { return get_local_size(0) * get_local_size(1) * get_local_size(2); }
TW_BUILTIN uint get_sub_group_id(void) { return tw_flat_local_id() / get_max_sub_group_size(); }
TW_BUILTIN uint get_num_sub_groups(void)
{
    return (tw_group_items() + get_max_sub_group_size() - 1) / get_max_sub_group_size();
}
TW_BUILTIN uint get_sub_group_size(void)
{
    return min(get_max_sub_group_size(), tw_group_items() - get_sub_group_id() * get_max_sub_group_size());
}
TW_BUILTIN void sub_group_barrier(cl_mem_fence_flags flags) { TW_FENCE; }
#define TW_COMBINE(type, name, expression)                                                                         \
    TW_BUILTIN type sub_group_reduce_##name(type a)                                                                \
    {                                                                                                              \
        for (uint step = 1; step < get_max_sub_group_size(); step *= 2) {                                          \
            const type b = __builtin_astype(tw_shuffle(as_int(a), get_sub_group_local_id() ^ step), type);         \
            a = expression;                                                                                        \
        }                                                                                                          \
        return a;                                                                                                  \
    }                                                                                                              \
    TW_BUILTIN type sub_group_scan_inclusive_##name(type a)                                                        \
    {                                                                                                              \
        for (uint step = 1; step < get_max_sub_group_size(); step *= 2) {                                          \
            const type b = __builtin_astype(tw_shuffle(as_int(a), get_sub_group_local_id() - step), type);         \
            if (get_sub_group_local_id() >= step)                                                                  \
                a = expression;                                                                                    \
        }                                                                                                          \
        return a;                                                                                                  \
    }                                                                                                              \
    TW_BUILTIN type sub_group_scan_exclusive_##name(type a)                                                        \
    {                                                                                                              \
        const int whole = as_int(sub_group_scan_inclusive_##name(a));                                              \
        const type before = __builtin_astype(tw_shuffle(whole, get_sub_group_local_id() - 1), type);               \
        return get_sub_group_local_id() ? before : (type)0;                                                        \
    }
#define TW_COLLECTIVES(type)                                                                                       \
    TW_COMBINE(type, add, a + b) TW_COMBINE(type, min, min(a, b)) TW_COMBINE(type, max, max(a, b))                 \
    TW_BUILTIN type sub_group_broadcast(type a, uint lane) { return __builtin_astype(tw_shuffle(as_int(a), lane), type); } \
    TW_BUILTIN type sub_group_shuffle(type a, uint lane) { return __builtin_astype(tw_shuffle(as_int(a), lane), type); } \
    TW_BUILTIN type sub_group_shuffle_xor(type a, uint mask)                                                       \
    {                                                                                                              \
        return __builtin_astype(tw_shuffle(as_int(a), get_sub_group_local_id() ^ mask), type);                     \
    }                                                                                                              \
    TW_BUILTIN type sub_group_shuffle_down(type a, uint by)                                                        \
    {                                                                                                              \
        return __builtin_astype(tw_shuffle(as_int(a), get_sub_group_local_id() + by), type);                       \
    }
TW_COLLECTIVES(int) TW_COLLECTIVES(uint) TW_COLLECTIVES(float)
#endif
