package io.farheap.remote.queue;

import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.ReplyHandler;
import io.farheap.rpc.batch.AwaitedReplies;
import io.farheap.rpc.batch.BatchConnection;
import io.farheap.rpc.message.BatchFormat;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A queue's calls to one server: a pair of message rings, and by entry what the queue knows of a call. Calls are handed
 * over as they end, so a batch whose calls have not all ended keeps its place until they have. Used inside the queue's
 * gate, or with it claimed; nothing here allocates after construction.
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
    /** What the caller's memory belongs to; null for a call that has been handed over. */
    private final @Nullable Object[] users;
    /**
     * The batch whose calls are handed over next, and the first of its entries that is not; -1 before it is looked at.
     */
    private long sequence = 1;

    private int entry = -1;
    private int underWay;
    /** The connection is another's to end: its memory is not looked at any more. */
    private boolean detached;

    public RpcLane(RemoteServer server, BatchConnection connection) {
        this.server = server;
        this.connection = connection;
        this.replies = connection.replies();
        this.tags = new long[connection.entries()];
        this.users = new Object[connection.entries()];
    }

    /** Whether there is room for a call, which may send a batch that is full. */
    public boolean hasRoom() {
        return connection.hasRoom() || connection.isFull() && connection.send() && connection.hasRoom();
    }

    /**
     * Calls, where there is room.
     *
     * @param arguments where they are in this process; they are copied
     * @param reply where it is to go, which is the call's until it is handed over
     * @param user what that belongs to, for {@link #uses}
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

    /** Calls that have not been handed over. */
    public int underWay() {
        return underWay;
    }

    /**
     * Takes answers, sends what waits where nothing is on its way, and hands over.
     *
     * @return how many calls were handed over
     */
    public int poll(ReplyHandler handler) {
        // After an exception of the handler's, a batch may have nothing to hand over and its place to give back.
        if (underWay == 0 && entry < 0) {
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

    /** Whether a poll would find something. */
    public boolean ready() {
        if (!detached) {
            connection.receive();
        }
        return sequence < connection.firstUnanswered() || replies.hasArrived();
    }

    private int handAnswered(ReplyHandler handler) {
        int handed = 0;
        while (sequence < connection.firstUnanswered()) {
            int end = connection.endEntry(sequence);
            if (entry < 0) {
                entry = connection.firstEntry(sequence);
            }
            while (entry < end) {
                int next = entry++;
                // One that is answered later has been lost, or has come, or is still to come: it is among those that
                // arrive.
                if (!replies.later(next)) {
                    handed++;
                    hand(next, handler);
                }
            }
            entry = -1;
            sequence++;
        }
        return handed;
    }

    /** Its place is free for a call of the handler's only once the batch is finished. */
    private void hand(int ended, ReplyHandler handler) {
        users[ended] = null;
        underWay--;
        byte status = connection.status(ended);
        boolean lost = status == BatchConnection.LOST;
        handler.completed(
                tags[ended],
                lost ? Outcome.UNKNOWN : OUTCOMES[status],
                status == BatchFormat.DONE ? replies.bytes(ended) : 0);
    }

    /** Gives the places of batches back whose calls have all been handed over. */
    private void finish() {
        for (int ready = connection.ready();
                ready > 0 && connection.firstUnfinished() < sequence;
                ready = connection.ready()) {
            int head = connection.head();
            for (int i = head; i < head + ready; i++) {
                if (users[i] != null) {
                    return;
                }
            }
            connection.finish(ready);
        }
    }

    /** From now on nobody but who closes the connection uses its memory. What has not been answered is lost. */
    public void detach() {
        detached = true;
        connection.fail();
    }

    public boolean detached() {
        return detached;
    }

    /** @return false where no event is certain */
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
