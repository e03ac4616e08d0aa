package io.farheap.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.posix.Posix;
import io.farheap.verbs.binding.ibv_context;
import io.farheap.verbs.binding.ibverbs;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Post and poll, called through the function pointers of an open device ({@code ibv_context.ops}), as the inline
 * functions of verbs.h do.
 *
 * <p>A critical call is the fastest kind, but delays safepoints for as long as it runs. It is used if the device posts
 * with a bounded number of stores and the payloads of the list have at most {@link #CRITICAL_BYTES} together; every
 * other post is an ordinary call.
 */
final class DataPathCalls {

    /** Above this size a device that executes in the post (softverbs copies) could delay a safepoint noticeably. */
    static final long CRITICAL_BYTES = 16 * 1024;

    private static final FunctionDescriptor POST = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor POLL = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);
    private static final FunctionDescriptor NOTIFY = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT);

    // Static and final: with any other handle a call costs 6 ns more.
    private static final MethodHandle MH$post = bind(POST);
    private static final MethodHandle MH$post_critical = bind(POST, Linker.Option.critical(false));
    private static final MethodHandle MH$poll_critical = bind(POLL, Linker.Option.critical(false));
    private static final MethodHandle MH$notify = bind(NOTIFY);

    private final MemorySegment postSend;
    private final MemorySegment pollCq;
    private final MemorySegment reqNotifyCq;
    private final boolean boundedPost;

    DataPathCalls(ibv_context context, boolean boundedPost) {
        this.postSend = MemorySegment.ofAddress(ibverbs.farheap_post_send_address(context));
        this.pollCq = MemorySegment.ofAddress(ibverbs.farheap_poll_cq_address(context));
        this.reqNotifyCq = MemorySegment.ofAddress(ibverbs.farheap_req_notify_cq_address(context));
        this.boundedPost = boundedPost;
    }

    private static MethodHandle bind(FunctionDescriptor descriptor, Linker.Option... options) {
        try {
            return Linker.nativeLinker().downcallHandle(descriptor, options);
        } catch (IllegalCallerException e) {
            throw new UnsupportedOperationException(Posix.NATIVE_ACCESS_HELP, e);
        }
    }

    /**
     * The most bytes that one critical call may post, summed over the payloads of a list; -1 if no post may be
     * critical.
     */
    long criticalBytes() {
        return boundedPost ? CRITICAL_BYTES : -1;
    }

    /**
     * Posts a list whose payloads sum to at most {@link #criticalBytes}.
     *
     * @return 0 or errno
     */
    int postSendCritical(long queuePair, long request, long badRequest) {
        try {
            return (int) MH$post_critical.invokeExact(postSend, queuePair, request, badRequest);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /**
     * As {@link #postSendCritical}, for larger lists, and for requests that may wait or make a system call, such as the
     * first one to a peer's region.
     */
    int postSend(long queuePair, long request, long badRequest) {
        try {
            return (int) MH$post.invokeExact(postSend, queuePair, request, badRequest);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** @return how many completions were written, or a negative number */
    int pollCq(long completionQueue, int entries, long completions) {
        try {
            return (int) MH$poll_critical.invokeExact(pollCq, completionQueue, entries, completions);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** @return 0 or errno */
    int requestNotification(long completionQueue) {
        try {
            return (int) MH$notify.invokeExact(reqNotifyCq, completionQueue, 0);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
