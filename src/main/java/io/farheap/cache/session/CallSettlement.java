package io.farheap.cache.session;

import io.farheap.remote.contract.RemoteServer;
import io.farheap.thread.StallAwareTimeout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Waits until a server that a cache leaves has sent the calls of all sessions back, so that they continue elsewhere: a
 * call that writes would be lost. The server has no region any more, and sends each call back as soon as it runs. It is
 * waited for while it answers, but not for ever, and not long if it is silent. There is one time limit for all
 * sessions.
 */
final class CallSettlement {

    private static final System.Logger LOG = System.getLogger(CallSettlement.class.getName());
    /** How long a server that answers may take. */
    private static final long MOST_NANOS = 10_000_000_000L;
    /** How long a server may answer nothing. */
    private static final long SILENCE_NANOS = 1_000_000_000;
    /**
     * Between the first two looks. The pause doubles, up to the longest: a look claims the gates, and keeps the
     * sessions' threads out, on a busy machine for long.
     */
    private static final long FIRST_LOOK_NANOS = 100_000;

    private static final long LONGEST_LOOK_NANOS = 5_000_000;

    private final RemoteServer server;
    private final LongSupplier clock;
    private final LongConsumer pause;

    /**
     * @param clock in ns
     * @param pause waits for so many ns
     */
    CallSettlement(RemoteServer server, LongSupplier clock, LongConsumer pause) {
        this.server = server;
        this.clock = clock;
        this.pause = pause;
    }

    /** @param sessions take the answers that have arrived, and tell whether calls are still under way there */
    void await(List<BooleanSupplier> sessions) {
        List<BooleanSupplier> left = new ArrayList<>(sessions);
        left.removeIf(session -> !isUnderWay(session));
        StallAwareTimeout most = new StallAwareTimeout(MOST_NANOS, clock);
        long look = FIRST_LOOK_NANOS;
        while (!left.isEmpty()) {
            // A renewal of the lease is the question that the server has to answer.
            long heldUntil = server.heldUntil();
            server.doubt();
            StallAwareTimeout silence = new StallAwareTimeout(SILENCE_NANOS, clock);
            while (!silence.over()) {
                if (left.isEmpty() || server.lost() != null || most.over()) {
                    return;
                }
                pause.accept(look);
                look = Math.min(2 * look, LONGEST_LOOK_NANOS);
                left.removeIf(session -> !isUnderWay(session));
            }
            if (server.heldUntil() - heldUntil <= 0) {
                return;
            }
        }
    }

    /** A session whose connection fails meanwhile keeps no other from being asked; its calls there are lost. */
    private boolean isUnderWay(BooleanSupplier session) {
        try {
            return session.getAsBoolean();
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, "a session's calls at " + server.address() + " cannot be awaited", e);
            return false;
        }
    }
}
