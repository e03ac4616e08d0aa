package io.farheap.kv.keeper;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.control.ControlException;
import io.farheap.kv.format.MapCalls;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.RpcOptions;
import io.farheap.remote.RpcQueue;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.server.ReconnectBackoff;
import io.farheap.time.TimeLimit;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Calls of a map's keeper to the service on one of its servers, one at a time. Each waits for its answer for a bounded
 * time. A connection that has failed is made again, with a back-off. One thread.
 */
public final class MapServiceClient implements AutoCloseable {

    private static final RpcOptions CALLS = RpcOptions.DEFAULT.with(2, 1).withRecordBytes(MapCalls.RECORD_BYTES);
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /**
     * The time for the first answer: a server that has just started on a busy machine still compiles the code that
     * answers.
     */
    private static final long FIRST_NANOS = TimeLimit.of(TimeUnit.SECONDS.toNanos(5));

    /** An answer that is missing for longer is not counted as late: the caller should not wait for it. */
    private static final long LATE_NANOS = TimeLimit.of(TimeUnit.MILLISECONDS.toNanos(1500));

    private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** The tag of connections; tags of calls count up from 0. */
    private static final long CONNECTION = Long.MIN_VALUE;

    // Offsets in the buffer.
    private static final int ARGUMENTS = 0;
    /** The arguments of a call that changes something, which are kept until it is answered. */
    private static final int CHANGE = MapCalls.RECORD_BYTES;

    private static final int REPLY = 2 * MapCalls.RECORD_BYTES;

    public final RemoteSpace space;
    /** The server's number among the map's servers. */
    final int number;

    private final RpcQueue queue;
    private final RegisteredBuffer memory;
    private long patience = PATIENCE_NANOS;
    private final MemorySegment bytes;
    private long calls;
    /** Whether the last call has no answer yet. A late answer would overwrite the reply of the next call. */
    private boolean underWay;

    private int outcome;
    private long changes;
    /** Words of the change that has no answer yet; it is repeated before anything else is changed. 0: there is none. */
    private int unansweredWords;

    private int unansweredOperation;
    /** The number of the last call that carried the change, -1 if none has, and when the change was begun. */
    private long changeCall = -1;

    private long changedAt;
    /** Whether the connection has failed since the change was sent, so that the change must be sent again. */
    private boolean resend;

    /** The clock of the back-off and of late answers. */
    private final LongSupplier nanoTime;

    private final ReconnectBackoff backoff;
    /** Whether the connection has failed, and whether it is being made again. */
    private boolean down;

    private boolean connecting;
    /** Whether the last attempt to make it again found no server. */
    private boolean unreachable;

    /** @throws ControlException if the server serves no calls */
    public MapServiceClient(RemoteMemory remote, RemoteSpace space, int number) {
        this(remote, space, number, System::nanoTime);
    }

    MapServiceClient(RemoteMemory remote, RemoteSpace space, int number, LongSupplier nanoTime) {
        this.space = space;
        this.number = number;
        this.nanoTime = nanoTime;
        backoff = new ReconnectBackoff(nanoTime.getAsLong());
        try (CloseStack stack = new CloseStack()) {
            memory = stack.add(remote.register(3L * MapCalls.RECORD_BYTES));
            queue = stack.add(remote.openRpcQueue(CALLS));
            stack.keep();
        }
        bytes = memory.segment();
    }

    /** Sets a word of the next call's arguments; word 0 is the space. */
    public MapServiceClient with(int index, long word) {
        bytes.set(JAVA_LONG, ARGUMENTS + (long) index * Long.BYTES, word);
        return this;
    }

    /** Sets a word of the next {@link #change}'s arguments; words 0 and 1 are set by that. */
    MapServiceClient changing(int index, long word) {
        bytes.set(JAVA_LONG, CHANGE + (long) index * Long.BYTES, word);
        return this;
    }

    /** A word of the reply. */
    public long reply(int index) {
        return bytes.get(JAVA_LONG, REPLY + (long) index * Long.BYTES);
    }

    /**
     * Calls the service, and waits for its reply.
     *
     * @return whether there is a reply with status {@link MapCalls#OK}
     */
    public boolean call(int operation, int words) {
        with(0, space.id());
        return call(operation, ARGUMENTS, words, patience) && reply(0) == MapCalls.OK;
    }

    /** Sets whether {@link #call} waits as long as {@link #callFirst} does; for the time before the map is used. */
    void isPatient(boolean is) {
        patience = is ? FIRST_NANOS : PATIENCE_NANOS;
    }

    /** As {@link #call(int, int)}, but waits longer for the reply: for a server that is not used yet. */
    public boolean callFirst(int operation, int words) {
        with(0, space.id());
        return call(operation, ARGUMENTS, words, FIRST_NANOS) && reply(0) == MapCalls.OK;
    }

    /**
     * Whether a change has no answer yet. Nothing else is changed then, and the process does not report its held
     * blocks.
     */
    boolean unanswered() {
        return unansweredWords > 0;
    }

    /** Makes a call that changes something. If it has no answer, {@link #again} must be called next. */
    boolean change(int operation, int words) {
        changing(0, space.id()).changing(1, ++changes);
        unansweredOperation = operation;
        unansweredWords = words;
        changedAt = nanoTime.getAsLong();
        changeCall = -1;
        resend = false;
        return again();
    }

    /**
     * Takes a late answer to the change that has none, or repeats the change.
     *
     * @return whether the answer has status {@link MapCalls#OK}
     */
    boolean again() {
        queue.poll(this::ended);
        if (!answeredLate()) {
            long before = calls;
            // If the connection fails during the call, this is set again.
            resend &= underWay;
            boolean answered = call(unansweredOperation, CHANGE, unansweredWords, PATIENCE_NANOS);
            changeCall = calls > before ? calls : changeCall;
            if (!answered) {
                return false;
            }
        }
        unansweredWords = 0;
        return reply(0) == MapCalls.OK;
    }

    /** Whether the last call carried the change, and its answer has come. */
    private boolean answeredLate() {
        return changeCall == calls && !underWay && outcome == Outcome.DONE;
    }

    /**
     * Whether the missing answer to a change may only be late: the server has not failed the call, or the connection
     * has failed and the change is about to be sent again, which the next {@link #again} does.
     */
    boolean late() {
        boolean mayCome = underWay || resend && !unreachable && !lost();
        return unanswered() && mayCome && nanoTime.getAsLong() - changedAt < LATE_NANOS;
    }

    /** A word of the arguments of the change that {@link #again} repeats. */
    long changeWord(int index) {
        return bytes.get(JAVA_LONG, CHANGE + (long) index * Long.BYTES);
    }

    /** The operation that {@link #again} repeats. */
    int unansweredOperation() {
        return unansweredOperation;
    }

    /** Whether the last call has an answer, of whatever status. */
    public boolean answered() {
        return outcome == Outcome.DONE;
    }

    /** Whether the server is lost and no thread of this process posts anything to it any more. */
    public boolean isAbandoned() {
        return space.server().isAbandoned();
    }

    /** Whether the server is lost, so that no answer will come. */
    public boolean lost() {
        return space.server().lost() != null;
    }

    private boolean call(int operation, int at, int words, long patience) {
        queue.poll(this::ended);
        if (underWay) {
            // The call before has waited for its answer long enough; later ones do not wait again until that answer is
            // there.
            return false;
        }
        outcome = Outcome.UNKNOWN;
        long deadline = System.nanoTime() + patience;
        int posting = queue.call(
                space.server(), operation, memory, at, words * Long.BYTES, REPLY, MapCalls.RECORD_BYTES, ++calls);
        if (posting != PostResult.OK) {
            reconnect();
            return false;
        }
        underWay = true;
        queue.send();
        if (!settled(deadline) || outcome != Outcome.DONE) {
            if (!queue.connected(space.server())) {
                // Now and not at the next call, which may be a session's that would evict without an answer.
                reconnect();
            }
            return false;
        }
        backoff.works();
        return true;
    }

    private boolean settled(long deadline) {
        while (underWay) {
            if (queue.poll(this::ended) > 0) {
                continue;
            }
            if (System.nanoTime() - deadline > 0) {
                return false;
            }
            queue.await(SLEEP_NANOS);
        }
        return true;
    }

    private void ended(long tag, int how, int ignored) {
        if (tag == CONNECTION) {
            connecting = false;
            down = how != Outcome.DONE;
            unreachable = down;
            backoff.ended(!down, nanoTime.getAsLong());
        } else if (tag == calls) {
            underWay = false;
            outcome = how;
        }
    }

    /** Makes the connection again; it may be lost although the server is not. */
    private void reconnect() {
        long now = nanoTime.getAsLong();
        resend |= unanswered();
        if (!lost() && !connecting) {
            if (!down) {
                down = true;
                backoff.fails(now);
            }
            if (backoff.due(now)) {
                connecting = true;
                queue.reconnect(space.server(), CONNECTION);
            }
        }
        queue.poll(this::ended);
    }

    /** How often in succession the connection has failed before any call was answered over it. */
    public int inVain() {
        return backoff.inVain();
    }

    /** Sleeps until an answer or a wake-up comes, for {@code nanos} ns at most. */
    void await(long nanos) {
        queue.await(nanos);
    }

    @Override
    public void close() {
        Closeables.all(queue, memory);
    }
}
