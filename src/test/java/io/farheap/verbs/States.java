package io.farheap.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.verbs.binding.ibv_qp_attr;
import io.farheap.verbs.binding.ibv_qp_init_attr;
import io.farheap.verbs.binding.ibv_recv_wr;
import io.farheap.verbs.binding.ibverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.function.ToIntFunction;
import org.bytedeco.javacpp.Loader;

/**
 * Queries and operations that Farheap's own queue pairs do not have: the client's end of a pair in the states that it
 * passes through and in which it never posts.
 */
final class States {

    private static final MethodHandle POST_RECEIVE =
            Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, ADDRESS));

    private final ConnectedPair pair;
    private final QueuePair queuePair;

    States(ConnectedPair pair) {
        this.pair = pair;
        this.queuePair = pair.client.queuePair;
    }

    void reset() {
        try (Arena arena = Arena.ofConfined()) {
            ibv_qp_attr attr = new ibv_qp_attr(NativePointers.allocate(arena, Loader.sizeof(ibv_qp_attr.class)));
            assertEquals(
                    0,
                    ibverbs.farheap_modify_qp(
                            queuePair.handle(), attr.qp_state(ibverbs.IBV_QPS_RESET), ibverbs.IBV_QP_STATE));
        }
    }

    /** Takes the queue pair through the states up to this one, of {@code enum ibv_qp_state}. */
    void climbTo(int state) {
        for (int next = queuePair.state() + 1; next <= state; next++) {
            switch (next) {
                case ibverbs.IBV_QPS_INIT -> queuePair.initialize();
                case ibverbs.IBV_QPS_RTR -> queuePair.readyToReceive(pair.server.queuePair.endpoint());
                case ibverbs.IBV_QPS_RTS -> queuePair.readyToSend(pair.server.queuePair.endpoint());
                default -> throw new AssertionError("no way from state " + next);
            }
        }
        assertEquals(state, queuePair.state());
    }

    /** The most READs and atomics that the queue pair has outstanding, as the device reports it. */
    static int initiatorDepth(QueuePair queuePair) {
        return query(queuePair, ibverbs.IBV_QP_MAX_QP_RD_ATOMIC, ibv_qp_attr::max_rd_atomic);
    }

    /** The most READs and atomics that the queue pair serves at a time, as the device reports it. */
    static int responderResources(QueuePair queuePair) {
        return query(queuePair, ibverbs.IBV_QP_MAX_DEST_RD_ATOMIC, ibv_qp_attr::max_dest_rd_atomic);
    }

    /** An attribute of the queue pair, as the device reports it. */
    static int query(QueuePair queuePair, int mask, ToIntFunction<ibv_qp_attr> attribute) {
        try (Arena arena = Arena.ofConfined()) {
            ibv_qp_attr attr = new ibv_qp_attr(NativePointers.allocate(arena, Loader.sizeof(ibv_qp_attr.class)));
            ibv_qp_init_attr init =
                    new ibv_qp_init_attr(NativePointers.allocate(arena, Loader.sizeof(ibv_qp_init_attr.class)));
            assertEquals(0, ibverbs.farheap_query_qp(queuePair.handle(), attr, mask, init));
            return attribute.applyAsInt(attr);
        }
    }

    /**
     * Posts a receive of no bytes, which Farheap's own data path has no use for.
     *
     * @return errno
     */
    int postReceive(long id) {
        try (Arena arena = Arena.ofConfined()) {
            ibv_recv_wr request = new ibv_recv_wr(NativePointers.allocate(arena, Loader.sizeof(ibv_recv_wr.class)));
            MemorySegment post = MemorySegment.ofAddress(
                    ibverbs.farheap_post_recv_address(queuePair.handle().context()));
            return (int) POST_RECEIVE.invokeExact(
                    post, queuePair.handle().address(), request.wr_id(id).address(), arena.allocate(ADDRESS));
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
