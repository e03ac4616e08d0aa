package io.farheap.verbs;

import io.farheap.posix.Errno;
import io.farheap.posix.Posix;
import io.farheap.verbs.binding.ibv_mr;
import io.farheap.verbs.binding.ibv_pd;
import io.farheap.verbs.binding.ibverbs;
import java.lang.foreign.MemorySegment;

/** Groups memory regions and queue pairs that may be used together. Any thread may call. */
public final class ProtectionDomain implements AutoCloseable {

    private final Context context;
    private final ibv_pd handle;
    private final ChildCount children;

    ProtectionDomain(Context context, ibv_pd handle) {
        this.context = context;
        this.handle = handle;
        this.children = new ChildCount("the protection domain");
    }

    public Context context() {
        return context;
    }

    /**
     * Registers native memory. Memory from a shared mapping (see {@code io.farheap.memory}) works on every device; the
     * segment must outlive the region.
     *
     * @param access rights of {@link Access}, or-ed
     * @throws VerbsException with ENOMEM if the locked-memory limit is too low; with EMFILE if this process has no file
     *     descriptor left, of which the software device needs one for each arena: nothing is registered then
     */
    public MemoryRegion register(MemorySegment memory, int access) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException(
                    "a segment on the Java heap cannot be registered; use memory of Farheap's arenas");
        }
        long bytes = memory.byteSize();
        if (bytes == 0 || bytes > context.limits().maxMemoryRegionBytes()) {
            throw new IllegalArgumentException(
                    "a registration of " + bytes + " bytes; " + context.device().name() + " takes 1 to "
                            + context.limits().maxMemoryRegionBytes());
        }
        children.add();
        ibv_mr mr = ibverbs.farheap_reg_mr(handle, memory.address(), bytes, access);
        if (mr == null) {
            int errno = NativePointers.errno();
            children.remove();
            throw new VerbsException(
                    "cannot register " + bytes + " bytes on " + context.device().name() + shortage(errno), errno);
        }
        return new MemoryRegion(this, mr, memory.address(), bytes);
    }

    private static String shortage(int errno) {
        return errno != Errno.EMFILE
                ? ""
                : ", which needs a descriptor for each arena and two more for a moment; all " + Posix.mostDescriptors()
                        + " that this process may have are in use";
    }

    /**
     * Creates a queue pair for a reliable connection in state INIT; {@link QueuePair#connect} makes it usable.
     *
     * @param completions the completion queue of its sends and receives
     * @param depth how many work requests may be posted and not completed
     * @param inlineBytes the payload that should fit into a work request; {@link QueuePair#inlineBytes} returns what
     *     the device granted
     * @throws IllegalArgumentException if the device has no queue pairs of that depth
     * @throws VerbsException if the device had no active port when it was opened, or refuses
     */
    public QueuePair createQueuePair(CompletionQueue completions, int depth, int inlineBytes) {
        if (depth < 1 || depth > context.limits().maxQueuePairRequests()) {
            throw new IllegalArgumentException("a queue depth of " + depth + "; "
                    + context.device().name() + " has 1 to " + context.limits().maxQueuePairRequests());
        }
        children.add();
        completions.children().add();
        try {
            return QueuePair.create(this, completions, depth, inlineBytes);
        } catch (Throwable e) {
            completions.children().remove();
            children.remove();
            throw e;
        }
    }

    @Override
    public void close() {
        if (children.close()) {
            int error = ibverbs.farheap_dealloc_pd(handle);
            context.children().remove();
            if (error != 0) {
                throw new VerbsException("cannot deallocate a protection domain", error);
            }
        }
    }

    ibv_pd handle() {
        return handle;
    }

    ChildCount children() {
        return children;
    }
}
