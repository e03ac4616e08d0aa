package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.memory.RegisteredMemory;
import io.farheap.posix.Errno;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.verbs.binding.ibverbs;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The result of each mistake, in one table for every device: softverbs must report what the kernel and hardware report.
 * A mistake either ends in a completion with a status, or is refused in the post with an errno.
 */
@Needs(Need.ATOMICS)
class MistakesTest {

    private static final int BYTES = 8192;
    private static final int REFUSED = -1;

    /** How a mistake is made: prepares request 0. */
    private interface Maker {
        void make(ConnectedPair pair) throws Exception;
    }

    /** The ends whose queue pairs are in the error state afterwards. */
    private enum Fails {
        CLIENT,
        BOTH,
        NEITHER
    }

    enum Mistake {
        READ_WITH_A_BAD_RKEY(
                WcStatus.REM_ACCESS_ERR,
                Fails.BOTH,
                pair -> to(pair, SendRequests.READ, pair.server.memory.remoteKey() ^ 0x5A5A5A00)),
        WRITE_WITH_A_BAD_RKEY(
                WcStatus.REM_ACCESS_ERR,
                Fails.BOTH,
                pair -> to(pair, SendRequests.WRITE, pair.server.memory.remoteKey() ^ 0x5A5A5A00)),
        WRITE_WITH_A_RKEY_OF_ANOTHER_GENERATION(
                WcStatus.REM_ACCESS_ERR,
                Fails.BOTH,
                pair -> to(pair, SendRequests.WRITE, pair.server.memory.remoteKey() ^ 1)),
        ATOMIC_WITH_A_BAD_RKEY(
                WcStatus.REM_ACCESS_ERR,
                Fails.BOTH,
                pair -> atomic(pair, 0, pair.server.memory.remoteKey() ^ 0x5A5A5A00)),
        READ_BEYOND_THE_END(
                WcStatus.REM_ACCESS_ERR,
                Fails.BOTH,
                pair -> pair.prepare(0, SendRequests.READ, SendRequests.SIGNALED, 0, 8, BYTES - 7)),
        WRITE_BEYOND_THE_END(
                WcStatus.REM_ACCESS_ERR,
                Fails.BOTH,
                pair -> pair.prepare(0, SendRequests.WRITE, SendRequests.SIGNALED, 0, 16, BYTES - 8)),
        WRITE_BEFORE_THE_START(
                WcStatus.REM_ACCESS_ERR,
                Fails.BOTH,
                pair -> pair.prepare(0, SendRequests.WRITE, SendRequests.SIGNALED, 0, 8, -1)),
        LONG_WRITE_BEYOND_THE_END(
                WcStatus.REM_ACCESS_ERR,
                Fails.BOTH,
                pair -> pair.prepare(0, SendRequests.WRITE, SendRequests.SIGNALED, 0, BYTES, 8)),
        WRITE_WITHOUT_PERMISSION(
                WcStatus.REM_ACCESS_ERR, Fails.BOTH, pair -> with(pair, SendRequests.WRITE, Access.REMOTE_READ)),
        READ_WITHOUT_PERMISSION(
                WcStatus.REM_ACCESS_ERR,
                Fails.BOTH,
                pair -> with(pair, SendRequests.READ, Access.LOCAL_WRITE | Access.REMOTE_WRITE)),
        ATOMIC_WITHOUT_PERMISSION(WcStatus.REM_ACCESS_ERR, Fails.BOTH, pair -> {
            RegisteredMemory region =
                    region(pair, pair.server.domain, Access.LOCAL_WRITE | Access.REMOTE_READ | Access.REMOTE_WRITE);
            pair.requests.prepareAtomic(
                    0,
                    SendRequests.FETCH_AND_ADD,
                    SendRequests.SIGNALED,
                    pair.client.memory.address(),
                    pair.client.memory.localKey(),
                    region.address(),
                    region.remoteKey(),
                    1,
                    0);
        }),
        REGION_OF_ANOTHER_DOMAIN(WcStatus.REM_ACCESS_ERR, Fails.BOTH, pair -> {
            ProtectionDomain other = pair.closing(pair.server.context.allocateProtectionDomain());
            to(pair, SendRequests.READ, region(pair, other, ConnectedPair.ALL_ACCESS));
        }),
        REGION_THAT_WAS_CLOSED(WcStatus.REM_ACCESS_ERR, Fails.BOTH, pair -> {
            RegisteredMemory region =
                    RegisteredMemory.allocate(pair.server.domain, "test-gone", BYTES, ConnectedPair.ALL_ACCESS);
            to(pair, SendRequests.READ, region);
            region.close();
        }),
        /** The rxe provider looks at the address in the post; hardware leaves it to the target. */
        MISALIGNED_ATOMIC(
                WcStatus.REM_INV_REQ_ERR,
                Fails.BOTH,
                REFUSED,
                Fails.NEITHER,
                pair -> atomic(pair, 4, pair.server.memory.remoteKey())),
        READ_INTO_A_BAD_LKEY(
                WcStatus.LOC_PROT_ERR,
                Fails.CLIENT,
                pair -> from(pair, SendRequests.READ, pair.client.memory.localKey() ^ 0x5A5A5A00)),
        /** When rxe gathers data to send, it distinguishes unknown keys from known ones; hardware does not. */
        WRITE_FROM_A_BAD_LKEY(
                WcStatus.LOC_PROT_ERR,
                Fails.CLIENT,
                WcStatus.LOC_QP_OP_ERR,
                Fails.CLIENT,
                pair -> from(pair, SendRequests.WRITE, pair.client.memory.localKey() ^ 0x5A5A5A00)),
        WRITE_FROM_BEYOND_THE_END(
                WcStatus.LOC_PROT_ERR,
                Fails.CLIENT,
                pair -> pair.prepare(0, SendRequests.WRITE, SendRequests.SIGNALED, BYTES - 4, 8, 0)),
        READ_INTO_BEYOND_THE_END(
                WcStatus.LOC_PROT_ERR,
                Fails.CLIENT,
                pair -> pair.prepare(0, SendRequests.READ, SendRequests.SIGNALED, BYTES - 4, 8, 0)),
        READ_INTO_MEMORY_THAT_MUST_NOT_BE_WRITTEN(WcStatus.LOC_PROT_ERR, Fails.CLIENT, pair -> {
            RegisteredMemory region = region(pair, pair.client.domain, Access.REMOTE_READ);
            pair.requests.prepare(
                    0,
                    SendRequests.READ,
                    SendRequests.SIGNALED,
                    region.address(),
                    8,
                    region.localKey(),
                    pair.server.memory.address(),
                    pair.server.memory.remoteKey());
        }),
        /** As above. */
        WRITE_FROM_MEMORY_OF_ANOTHER_DOMAIN(
                WcStatus.LOC_PROT_ERR, Fails.CLIENT, WcStatus.LOC_QP_OP_ERR, Fails.CLIENT, pair -> {
                    ProtectionDomain other = pair.closing(pair.client.context.allocateProtectionDomain());
                    RegisteredMemory region = region(pair, other, ConnectedPair.ALL_ACCESS);
                    pair.requests.prepare(
                            0,
                            SendRequests.WRITE,
                            SendRequests.SIGNALED,
                            region.address(),
                            8,
                            region.localKey(),
                            pair.server.memory.address(),
                            pair.server.memory.remoteKey());
                }),
        PEER_THAT_DESTROYED_ITS_QUEUE_PAIR(WcStatus.RETRY_EXC_ERR, Fails.CLIENT, pair -> {
            pair.prepare(0, SendRequests.WRITE, SendRequests.SIGNALED, 0, 8, 0);
            pair.server.queuePair.close();
        }),
        PEER_THAT_FAILED_ITS_QUEUE_PAIR(WcStatus.RETRY_EXC_ERR, Fails.CLIENT, pair -> {
            pair.prepare(0, SendRequests.READ, SendRequests.SIGNALED, 0, 8, 0);
            pair.server.queuePair.fail();
        }),
        QUEUE_PAIR_THAT_FAILED(WcStatus.WR_FLUSH_ERR, Fails.CLIENT, pair -> {
            pair.prepare(0, SendRequests.READ, SendRequests.SIGNALED, 0, 8, 0);
            pair.client.queuePair.fail();
        }),
        TOO_LONG_INLINE(
                REFUSED,
                Fails.NEITHER,
                pair -> pair.prepare(
                        0,
                        SendRequests.WRITE,
                        SendRequests.SIGNALED | SendRequests.INLINE,
                        0,
                        pair.client.queuePair.inlineBytes() + 1,
                        0));

        private final int status;
        private final Fails fails;
        private final int rxeStatus;
        private final Fails rxeFails;
        private final Maker maker;

        Mistake(int status, Fails fails, Maker maker) {
            this(status, fails, status, fails, maker);
        }

        /** A mistake for which rxe differs from hardware, and so from softverbs. */
        Mistake(int status, Fails fails, int rxeStatus, Fails rxeFails, Maker maker) {
            this.status = status;
            this.fails = fails;
            this.rxeStatus = rxeStatus;
            this.rxeFails = rxeFails;
            this.maker = maker;
        }

        int status(String device) {
            return device.startsWith("rxe") ? rxeStatus : status;
        }

        Fails fails(String device) {
            return device.startsWith("rxe") ? rxeFails : fails;
        }
    }

    @ParameterizedTest
    @EnumSource
    void endsAsTheTableSays(Mistake mistake) throws Exception {
        try (ConnectedPair pair = ConnectedPair.connect(BYTES)) {
            mistake.maker.make(pair);
            String device = pair.client.context.device().name();
            int status = mistake.status(device);
            Fails fails = mistake.fails(device);
            int error = pair.post(0);
            if (status == REFUSED) {
                assertTrue(error == Errno.EINVAL || error == Errno.ENOMEM, "errno " + error);
                assertEquals(0, pair.client.completions.poll());
            } else {
                assertEquals(0, error);
                assertEquals(WcStatus.describe(status), WcStatus.describe(pair.await(0)));
            }
            assertEquals(fails != Fails.NEITHER, pair.client.queuePair.failed(), "the client's queue pair is in error");
            if (mistake != Mistake.PEER_THAT_DESTROYED_ITS_QUEUE_PAIR
                    && mistake != Mistake.PEER_THAT_FAILED_ITS_QUEUE_PAIR) {
                assertEquals(
                        fails == Fails.BOTH, pair.server.queuePair.failed(), "the server's queue pair is in error");
            }
            checkWhatFollows(fails, pair);
        }
    }

    /** A failed queue pair flushes later requests; one that only refused a post executes them. */
    private static void checkWhatFollows(Fails fails, ConnectedPair pair) {
        pair.prepare(1, SendRequests.WRITE, SendRequests.SIGNALED, 0, 8, 0);
        assertEquals(0, pair.post(1));
        assertEquals(
                WcStatus.describe(fails == Fails.NEITHER ? WcStatus.SUCCESS : WcStatus.WR_FLUSH_ERR),
                WcStatus.describe(pair.await(1)));
    }

    /** A post in a state that takes none is refused at once, and the queue pair is usable as before. */
    enum EarlyPost {
        SEND_IN_RESET(ibverbs.IBV_QPS_RESET, true, true),
        SEND_IN_INIT(ibverbs.IBV_QPS_INIT, true, true),
        SEND_IN_RTR(ibverbs.IBV_QPS_RTR, true, true),
        RECEIVE_IN_RESET(ibverbs.IBV_QPS_RESET, false, false);

        private final int state;
        private final boolean send;
        /** rxe refuses a send only in its doorbell, when the request is in the queue already. */
        private final boolean rxeRunsItLater;

        EarlyPost(int state, boolean send, boolean rxeRunsItLater) {
            this.state = state;
            this.send = send;
            this.rxeRunsItLater = rxeRunsItLater;
        }
    }

    @ParameterizedTest
    @EnumSource
    void aPostBeforeItsStateIsRefused(EarlyPost early) throws Exception {
        try (ConnectedPair pair = ConnectedPair.connect(BYTES)) {
            boolean runsLater =
                    early.rxeRunsItLater && pair.client.context.device().name().startsWith("rxe");
            States states = new States(pair);
            states.reset();
            states.climbTo(early.state);
            pair.prepare(0, SendRequests.WRITE, SendRequests.SIGNALED, 0, 8, 0);
            assertEquals(Errno.EINVAL, early.send ? pair.post(0) : states.postReceive(0));
            assertEquals(0, pair.client.completions.poll());
            assertEquals(early.state, pair.client.queuePair.state());

            states.climbTo(ibverbs.IBV_QPS_RTS);
            pair.prepare(1, SendRequests.WRITE, SendRequests.SIGNALED, 0, 8, 0);
            assertEquals(0, pair.post(1));
            if (runsLater) {
                assertEquals(WcStatus.SUCCESS, pair.await(0));
            }
            assertEquals(WcStatus.SUCCESS, pair.await(1));

            // Requests that the queue pair still held would be flushed now.
            pair.client.queuePair.fail();
            pair.prepare(2, SendRequests.WRITE, SendRequests.SIGNALED, 0, 8, 0);
            assertEquals(0, pair.post(2));
            assertEquals(WcStatus.WR_FLUSH_ERR, pair.await(2));
            assertEquals(0, pair.client.completions.poll());
        }
    }

    private static RegisteredMemory region(ConnectedPair pair, ProtectionDomain domain, int access) {
        return pair.closing(RegisteredMemory.allocate(domain, "test-region", BYTES, access));
    }

    private static void with(ConnectedPair pair, int opcode, int access) {
        to(pair, opcode, region(pair, pair.server.domain, access));
    }

    private static void to(ConnectedPair pair, int opcode, RegisteredMemory region) {
        pair.requests.prepare(
                0,
                opcode,
                SendRequests.SIGNALED,
                pair.client.memory.address(),
                8,
                pair.client.memory.localKey(),
                region.address(),
                region.remoteKey());
    }

    private static void to(ConnectedPair pair, int opcode, int remoteKey) {
        pair.requests.prepare(
                0,
                opcode,
                SendRequests.SIGNALED,
                pair.client.memory.address(),
                8,
                pair.client.memory.localKey(),
                pair.server.memory.address(),
                remoteKey);
    }

    private static void from(ConnectedPair pair, int opcode, int localKey) {
        pair.requests.prepare(
                0,
                opcode,
                SendRequests.SIGNALED,
                pair.client.memory.address(),
                8,
                localKey,
                pair.server.memory.address(),
                pair.server.memory.remoteKey());
    }

    private static void atomic(ConnectedPair pair, long remoteOffset, int remoteKey) {
        pair.requests.prepareAtomic(
                0,
                SendRequests.FETCH_AND_ADD,
                SendRequests.SIGNALED,
                pair.client.memory.address(),
                pair.client.memory.localKey(),
                pair.server.memory.address() + remoteOffset,
                remoteKey,
                1,
                0);
    }
}
