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
import io.farheap.time.TimeLimit;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/**
 * Calls of a map's keeper to the service on one of its servers, one at a time, each with an answer within a time or
 * none. One thread.
 */
public final class MapServiceClient implements AutoCloseable {

    private static final RpcOptions CALLS = RpcOptions.DEFAULT.with(2, 1).withRecordBytes(MapCalls.RECORD_BYTES);
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /** For the first answer: a server that has just started, on a busy machine, has yet to compile what answers. */
    private static final long FIRST_NANOS = TimeLimit.of(TimeUnit.SECONDS.toNanos(5));

    /** What is older than that does not count as late, but as not to be hoped for. */
    private static final long LATE_NANOS = TimeLimit.of(TimeUnit.MILLISECONDS.toNanos(1500));

    private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long RECONNECT_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Tags of connections; those of calls count up from 0. */
    private static final long CONNECTION = Long.MIN_VALUE;

    // In the buffer.
    private static final int ARGUMENTS = 0;
    /** Of a call that changes something, which may come again. */
    private static final int CHANGE = MapCalls.RECORD_BYTES;

    private static final int REPLY = 2 * MapCalls.RECORD_BYTES;

    public final RemoteSpace space;
    /** Of the server among the map's. */
    final int number;

    private final RpcQueue queue;
    private final RegisteredBuffer memory;
    private long patience = PATIENCE_NANOS;
    private final MemorySegment bytes;
    private long calls;
    /** A call's answer has not come, and will be written where the next one's would be. */
    private boolean underWay;

    private int outcome;
    private long changes;
    /** A change whose answer has not come: it is called again before anything else is changed. */
    private int unansweredWords;

    private int unansweredOperation;
    /** The call that carried it last, -1 where none has, and when it was begun. */
    private long changeCall = -1;

    private long changedAt;
    private long reconnectAt;

    /** @throws ControlException where the server serves no calls */
    MapServiceClient(RemoteMemory remote, RemoteSpace space, int number) {
        this.space = space;
        this.number = number;
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

    /** Sets a word of the arguments of the next {@link #change}; words 0 and 1 are its own. */
    MapServiceClient changing(int index, long word) {
        bytes.set(JAVA_LONG, CHANGE + (long) index * Long.BYTES, word);
        return this;
    }

    /** A word of the reply. */
    public long reply(int index) {
        return bytes.get(JAVA_LONG, REPLY + (long) index * Long.BYTES);
    }

    /**
     * Calls and waits.
     *
     * @return whether there is an answer that says {@link MapCalls#OK}
     */
    public boolean call(int operation, int words) {
        with(0, space.id());
        return call(operation, ARGUMENTS, words, patience) && reply(0) == MapCalls.OK;
    }

    /** Whether {@link #call} waits as {@link #callFirst} does: before the map is used. */
    void isPatient(boolean is) {
        patience = is ? FIRST_NANOS : PATIENCE_NANOS;
    }

    /** As {@link #call(int, int)}, and waits longer for the answer: of whom nobody depends on yet. */
    boolean callFirst(int operation, int words) {
        with(0, space.id());
        return call(operation, ARGUMENTS, words, FIRST_NANOS) && reply(0) == MapCalls.OK;
    }

    /** Whether a change has no answer yet; then nothing else is changed, and no process says what it holds. */
    boolean unanswered() {
        return unansweredWords > 0;
    }

    /** Calls what changes something. Where there is no answer, {@link #again} is next. */
    boolean change(int operation, int words) {
        changing(0, space.id()).changing(1, ++changes);
        unansweredOperation = operation;
        unansweredWords = words;
        changedAt = System.nanoTime();
        changeCall = -1;
        return again();
    }

    /**
     * Takes the answer of the change that has none, if it has come late, or calls the change anew.
     *
     * @return whether it was answered with {@link MapCalls#OK}
     */
    boolean again() {
        queue.poll(this::ended);
        if (!answeredLate()) {
            long before = calls;
            boolean answered = call(unansweredOperation, CHANGE, unansweredWords, PATIENCE_NANOS);
            changeCall = calls > before ? calls : changeCall;
            if (!answered) {
                return false;
            }
        }
        unansweredWords = 0;
        return reply(0) == MapCalls.OK;
    }

    /** Whether the last call was the change's, and the answer to it is there. */
    private boolean answeredLate() {
        return changeCall == calls && !underWay && outcome == Outcome.DONE;
    }

    /** Whether the answer to a change that has none may only be late: the server is there, and has not failed it. */
    boolean late() {
        return unanswered() && underWay && System.nanoTime() - changedAt < LATE_NANOS;
    }

    /** A word of the arguments of the change that {@link #again} calls. */
    long changeWord(int index) {
        return bytes.get(JAVA_LONG, CHANGE + (long) index * Long.BYTES);
    }

    /** What {@link #again} calls. */
    int unansweredOperation() {
        return unansweredOperation;
    }

    /** Whether there will be no answer any more. */
    public boolean lost() {
        return space.server().lost() != null;
    }

    private boolean call(int operation, int at, int words, long patience) {
        queue.poll(this::ended);
        if (underWay) {
            // Who waited for that has waited long enough; nobody waits again before there is an answer.
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
        return settled(deadline) && outcome == Outcome.DONE;
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
        if (tag == calls) {
            underWay = false;
            outcome = how;
        }
    }

    /** A connection may be lost and the server not. */
    private void reconnect() {
        long now = System.nanoTime();
        if (!lost() && now - reconnectAt >= 0) {
            reconnectAt = now + RECONNECT_NANOS;
            queue.reconnect(space.server(), CONNECTION);
        }
        queue.poll(this::ended);
    }

    /** Makes a wait on another thread's behalf short: sleeps until something comes, at most for a time. */
    void await(long nanos) {
        queue.await(nanos);
    }

    @Override
    public void close() {
        Closeables.all(queue, memory);
    }
}
