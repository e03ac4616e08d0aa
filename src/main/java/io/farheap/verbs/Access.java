package io.farheap.verbs;

import io.farheap.verbs.binding.ibverbs;

/** Rights of a memory region, to be or-ed together. Remote writing and atomics need local writing too. */
public final class Access {

    public static final int LOCAL_WRITE = ibverbs.IBV_ACCESS_LOCAL_WRITE;
    public static final int REMOTE_READ = ibverbs.IBV_ACCESS_REMOTE_READ;
    public static final int REMOTE_WRITE = ibverbs.IBV_ACCESS_REMOTE_WRITE;
    public static final int REMOTE_ATOMIC = ibverbs.IBV_ACCESS_REMOTE_ATOMIC;

    private Access() {}
}
