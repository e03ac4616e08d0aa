package io.farheap.remote.queue;

import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.ReplyHandler;
import io.farheap.rpc.batch.AwaitedReplies;
import io.farheap.rpc.batch.BatchConnection;
import io.farheap.rpc.message.BatchFormat;
import java.util.Arrays;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A queue's calls to one server: a pair of message rings, and the queue's state of each call, by entry. Calls are
 * handed over as they end. A call that is answered later than its batch keeps its entry, and its batch's place is free
 * for the next batch. Used inside the queue's gate, or with it claimed; nothing here allocates after construction.
 */
public final class RpcLane {

    private static final byte[] OUTCOMES = new byte[BatchFormat.LATER];

    static {
        OUTCOMES[BatchFormat.DONE] = Outcome.DONE;
        OUTCOMES[BatchFormat.NOT_HELD] = Outcome.NOT_HELD;
        OUTCOMES[BatchFormat.FAILED] = Outcome.FAILED;
        OUTCOMES[BatchFormat.NO_OPERATION] = Outcome.NO_OPERATION;
    }

    public final RemoteServer server;
    public final BatchConnection connection;
    private final AwaitedReplies replies;
    private final long[] tags;
    /** The object that the caller's memory belongs to; null for a call that has been handed over. */
    private final @Nullable Object[] users;
    /**
     * The batch whose calls are handed over next, and its first entry not handed over; -1 before the batch is begun.
     */
    private long sequence = 1;

    private int entry = -1;
    private int underWay;
    /** The thread that closes the connection now owns it: its memory is not read here any more. */
    private boolean detached;
    /** Whether there was no room for a call when it was last asked for. */
    private boolean turnedAway;

    public RpcLane(RemoteServer server, BatchConnection connection) {
        this.server = server;
        this.connection = connection;
        this.replies = connection.replies();
        this.tags = new long[connection.entries()];
        this.users = new Object[connection.entries()];
    }

    /** Whether there is room for a call; sends a full batch to make room. */
    public boolean hasRoom() {
        turnedAway = !connection.hasRoom() && !connection.makeRoom();
        return !turnedAway;
    }

    /**
     * Whether there is no room for a call before one of those that are under way ends. If batches without requests are
     * in flight, there may be room as soon as a poll has taken their answers.
     */
    public boolean isFull() {
        return !hasRoom() && !connection.awaitsEmpty();
    }

    /**
     * Makes a call, for which there must be room.
     *
     * @param user the object that the memory belongs to, for {@link #uses}
     * @param arguments their address in this process; they are copied
     * @param reply the address at which the reply goes, whose memory belongs to the call until it is handed over
     */
    public void call(int operation, Object user, long arguments, int bytes, long reply, int replyBytes, long tag) {
        int added = connection.addCall(operation, arguments, bytes, reply, replyBytes);
        tags[added] = tag;
        users[added] = user;
        underWay++;
        if (connection.isFull()) {
            connection.send();
        }
    }

    /** How many calls have not been handed over. */
    public int underWay() {
        return underWay;
    }

    /** Whether polls have something to do: calls, or batches without requests, which leave no room until answered. */
    public boolean busy() {
        return underWay > 0 || !detached && !connection.isIdle();
    }

    /**
     * Takes answers, sends the open batch if no batch is in flight or it is full, and hands calls over.
     *
     * @return how many calls were handed over
     */
    public int poll(ReplyHandler handler) {
        // After an exception of the handler no call may be left to hand over while a batch has still to be finished.
        if (!busy() && entry < 0) {
            return 0;
        }
        if (!detached) {
            connection.receive();
            if (connection.waiting() > 0 && (connection.unanswered() == 0 || connection.isFull())) {
                connection.send();
            }
        }
        int handed = 0;
        try {
            handed = handAnswered(handler);
            for (int late = replies.takeArrived(); late >= 0; late = replies.takeArrived()) {
                handed++;
                hand(late, handler);
            }
        } finally {
            // Also after an exception of the handler.
            finish();
        }
        return handed;
    }

    /** Whether a poll would find an answer, or a call that was turned away may find room by now. */
    public boolean ready() {
        if (!detached) {
            connection.receive();
        }
        if (turnedAway && connection.mayMakeRoom()) {
            turnedAway = false;
            return true;
        }
        return underWay > 0 && (sequence < connection.firstUnanswered() || replies.hasArrived());
    }

    private int handAnswered(ReplyHandler handler) {
        int handed = 0;
        if (entry < 0) {
            // Batches without requests finish by themselves.
            sequence = Math.max(sequence, connection.firstUnfinished());
        }
        while (sequence < connection.firstUnanswered()) {
            int end = connection.endEntry(sequence);
            if (entry < 0) {
                entry = connection.firstEntry(sequence);
            }
            while (entry < end) {
                int next = entry++;
                // A call with a late answer is handed over when that arrives or is lost, by takeArrived.
                if (!connection.leavesOut(next) && !replies.later(next)) {
                    handed++;
                    hand(next, handler);
                }
            }
            entry = -1;
            sequence++;
        }
        return handed;
    }

    /** Hands a call over. */
    private void hand(int ended, ReplyHandler handler) {
        users[ended] = null;
        underWay--;
        byte status = connection.status(ended);
        handler.completed(tags[ended], outcome(status), status == BatchFormat.DONE ? replies.bytes(ended) : 0);
    }

    private static int outcome(byte status) {
        return switch (status) {
            case BatchConnection.LOST -> Outcome.UNKNOWN;
            case BatchConnection.UNSENT -> Outcome.NOT_POSTED;
            default -> OUTCOMES[status];
        };
    }

    /** Finishes the batches whose calls have been handed over, or keep their entries: their places become free. */
    private void finish() {
        for (int ready = connection.ready();
                ready > 0 && connection.firstUnfinished() < sequence;
                ready = connection.ready()) {
            connection.finish(ready);
        }
    }

    /**
     * Takes back the calls that have not been sent: they have no effect, and are not handed over.
     *
     * @param unsent gets their tags
     */
    public void takeUnsent(LongConsumer unsent) {
        if (detached) {
            return;
        }
        int first = connection.first();
        int waiting = connection.waiting();
        connection.withdraw();
        for (int taken = first; taken < first + waiting; taken++) {
            if (!connection.leavesOut(taken)) {
                users[taken] = null;
                underWay--;
                unsent.accept(tags[taken]);
            }
        }
    }

    /** Leaves the connection to the thread that closes it. Calls that are not answered are lost. */
    public void detach() {
        detached = true;
        connection.fail();
    }

    public boolean detached() {
        return detached;
    }

    /** @return false if no event is certain */
    public boolean requestWakeUp() {
        return detached || connection.requestWakeUpByAny();
    }

    public void listen() {
        if (!detached) {
            connection.requestNotification();
        }
    }

    public boolean uses(Object user) {
        return Arrays.asList(users).contains(user);
    }
}
