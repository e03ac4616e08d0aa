package io.farheap.procedure.service;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.memory.NativeMemory;
import io.farheap.posix.AsymmetricFence;
import io.farheap.procedure.Call;
import io.farheap.procedure.CallFormat;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.translate.Context;
import io.farheap.rpc.Arguments;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.PendingCall;
import io.farheap.rpc.Reply;
import io.farheap.rpc.RpcHandler;
import io.farheap.server.ServerWork;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Runs calls on one server thread. A call begins while the batch that it came in is served, and most end there. One
 * that takes longer, or that is to let others run while its memory is fetched, waits in the {@link RunQueue} and goes
 * on in slices between rounds of the thread's message rings; a thread without any takes those of others.
 *
 * <p><b>Maps.</b> {@code slices} is odd while a context runs. It is stored before the lease's map is loaded; who has
 * replaced a map executes a heavy fence and then waits until each thread's {@code slices} was even or has changed: from
 * there on nobody uses the map before. {@link AsymmetricFence} orders the store and the load.
 */
final class ThreadCalls implements ServerWork {

    private static final VarHandle SLICES;

    static {
        try {
            SLICES = MethodHandles.lookup().findVarHandle(ThreadCalls.class, "slices", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Map<Long, LeaseProcedures> leases;
    /** Whose call was looked up last, and what it has: most of a batch are of one lease. */
    private @Nullable HeldRegions lastHeld;

    private @Nullable LeaseProcedures last;
    /** So that a load is not taken for one without an effect. */
    @SuppressWarnings("unused")
    private long touched;

    private final Peers peers;
    private final Runnable wake;
    private final RunQueue queue = new RunQueue();
    private final MemorySegment answer = Arena.ofAuto().allocate(CallFormat.RECORD_BYTES, Long.BYTES);
    private Running[] idle = new Running[16];
    private int idleCount;
    /** When the slice before ended, and how long it took; 0 where rings have had as much since. */
    private long sliceEnd;

    private long sliceNanos;

    @SuppressWarnings("unused")
    private int slices;

    private volatile boolean ended;

    /** The threads of one server. */
    interface Peers {

        /** A call of another thread's, or null. */
        @Nullable
        Running steal(ThreadCalls thief);

        /** There is more to do than one thread does. */
        void help();
    }

    /**
     * @param leases what each has, by its id
     * @param wake makes the thread look for work
     */
    ThreadCalls(Map<Long, LeaseProcedures> leases, Peers peers, Runnable wake) {
        this.leases = leases;
        this.peers = peers;
        this.wake = wake;
    }

    /** On the thread, for the handler of {@link CallFormat#CALL} and {@link CallFormat#RESUME}. */
    int execute(boolean resume, HeldRegions held, Arguments in, Reply out) {
        int bytes = in.bytes() - CallFormat.CALL_BYTES;
        int capacity = in.getInt(4);
        LeaseProcedures lease = lease(held);
        Registered procedure = lease == null ? null : lease.find(in.getInt(0));
        if (lease == null
                || procedure == null
                || bytes < 0
                || !resume && bytes > Call.ARGUMENT_BYTES
                || capacity < 0
                || capacity > Call.RESULT_BYTES
                || capacity > out.capacity() - CallFormat.REPLY_BYTES) {
            return reply(out, CallStatus.REFUSED, 0, 0);
        }
        Running call = take();
        call.begin(held, lease, procedure);
        long from = in.getLong(8);
        long span = in.getLong(16);
        if ((from | span) < 0) {
            // None: it has no bytes.
            from = 0;
            span = 0;
        }
        call.capacity = capacity;
        call.end = from + span;
        Context context = call.context;
        context.begin(procedure.translation.code(), from, span, resume ? 0 : bytes, capacity, CallFormat.FUEL_LIMIT);
        long at = in.address(CallFormat.CALL_BYTES, bytes);
        if (!resume) {
            MemorySegment.copy(NativeMemory.ALL, at, NativeMemory.ALL, context.argumentsAddress(), bytes);
        } else if (!context.load(NativeMemory.ALL, at, bytes)) {
            put(call);
            return reply(out, CallStatus.REFUSED, 0, 0);
        }
        int left = slice(call, procedure.firstFuel());
        if (left == Context.FUEL || left == Context.TURN) {
            if (!lease.begin()) {
                put(call);
                return reply(out, CallStatus.REFUSED, 0, 0);
            }
            call.pending = out.goesOn();
            add(call, lease);
            return RpcHandler.LATER;
        }
        int length = write(call, left);
        if (length > out.capacity()) {
            length = header(CallStatus.RESULT_FULL, 0, 0);
        }
        out.setBytes(0, answer, 0, length);
        put(call);
        return length;
    }

    /** A lease has one of these objects, and its id does not come again. */
    private @Nullable LeaseProcedures lease(HeldRegions held) {
        if (held != lastHeld || last == null) {
            lastHeld = held;
            last = leases.get(held.lease());
        }
        return last;
    }

    /** On the thread: loads a word at the first address that a call needs, where it is here. */
    void touch(HeldRegions held, long address) {
        LeaseProcedures lease = lease(held);
        if (lease != null && address >= 0) {
            LeaseMap map = lease.map();
            map.refresh(held);
            touched = map.touch(address);
        }
    }

    private void add(Running call, LeaseProcedures lease) {
        queue.add(call, lease);
        if (queue.size() > 1) {
            peers.help();
        }
    }

    /**
     * One slice of a call of this thread's, or of another's. While rings are busy, they have as much time between two
     * slices as the slice before took.
     */
    @Override
    public boolean run(boolean busy) {
        if (busy && sliceNanos > 0 && System.nanoTime() - sliceEnd < sliceNanos) {
            return true;
        }
        sliceNanos = 0;
        Running call = queue.take();
        if (call == null) {
            call = peers.steal(this);
            if (call == null) {
                return false;
            }
        }
        goOn(call);
        return true;
    }

    // A call that waits has all of these.
    @SuppressWarnings("NullAway")
    private void goOn(Running call) {
        LeaseProcedures lease = call.lease;
        PendingCall pending = call.pending;
        Registered procedure = call.procedure;
        if (pending.cancelled() || lease.ended()) {
            end(call, lease);
            if (lease.ended()) {
                queue.forget(lease);
            }
            return;
        }
        long before = call.context.fuelUsed();
        long started = System.nanoTime();
        int left = slice(call, procedure.sliceFuel());
        sliceEnd = System.nanoTime();
        long took = sliceEnd - started;
        sliceNanos = took;
        queue.used(lease, took);
        // Also of one that ended: else calls a little longer than a first slice of cold code would always wait.
        procedure.took(call.context.fuelUsed() - before, took);
        if (left == Context.FUEL || left == Context.TURN) {
            add(call, lease);
            return;
        }
        int length = write(call, left);
        if (length > pending.capacity()) {
            length = header(CallStatus.RESULT_FULL, 0, 0);
        }
        pending.answer(answer, 0, length);
        end(call, lease);
    }

    private void end(Running call, LeaseProcedures lease) {
        lease.finish();
        put(call);
    }

    // As in goOn.
    @SuppressWarnings("NullAway")
    private int slice(Running call, int fuel) {
        SLICES.setRelease(this, slices + 1);
        AsymmetricFence.light();
        LeaseMap map = call.lease.map();
        try {
            map.refresh(call.held);
            if (Long.compareUnsigned(call.end, map.span()) > 0) {
                return Context.ENDED;
            }
            call.context.map(map.table(), map.entries(), map.shift());
            return call.context.run(fuel);
        } finally {
            Reference.reachabilityFence(map);
            SLICES.setRelease(this, slices + 1);
        }
    }

    /** After the map of a lease was replaced: when it returns, no thread uses the one before. */
    static void awaitSlices(ThreadCalls[] threads, @Nullable ThreadCalls own) {
        AsymmetricFence.heavy();
        for (ThreadCalls thread : threads) {
            if (thread != own) {
                int seen = (int) SLICES.getAcquire(thread);
                while ((seen & 1) != 0 && (int) SLICES.getAcquire(thread) == seen) {
                    Thread.onSpinWait();
                }
            }
        }
    }

    /** @return bytes of the answer, in {@code answer} */
    private int write(Running call, int left) {
        Context context = call.context;
        if (left == Context.RETURNED) {
            int result = context.resultBytes();
            header(CallStatus.DONE, context.code(), 0);
            MemorySegment.copy(NativeMemory.ALL, context.resultAddress(), answer, CallFormat.REPLY_BYTES, result);
            return CallFormat.REPLY_BYTES + result;
        }
        if (left == Context.ACCESS) {
            int bytes = context.saveBytes();
            if (bytes > CallFormat.RECORD_BYTES - CallFormat.REPLY_BYTES) {
                return header(CallStatus.RESULT_FULL, 0, 0);
            }
            header(CallFormat.LEFT, context.accessKind(), context.address());
            context.save(answer, CallFormat.REPLY_BYTES);
            return CallFormat.REPLY_BYTES + bytes;
        }
        int status = context.status();
        if (status == CallStatus.DONE) {
            // The cache has become smaller than its footprint meanwhile.
            status = CallStatus.OUT_OF_RANGE;
        }
        return header(status, 0, status == CallStatus.FAULT ? context.line() : context.address());
    }

    private int header(int status, int code, long value) {
        answer.set(JAVA_INT_UNALIGNED, 0, status);
        answer.set(JAVA_INT_UNALIGNED, 4, code);
        answer.set(JAVA_LONG_UNALIGNED, 8, value);
        return CallFormat.REPLY_BYTES;
    }

    private static int reply(Reply out, int status, int code, long value) {
        out.setInt(0, status);
        out.setInt(4, code);
        out.setLong(8, value);
        return CallFormat.REPLY_BYTES;
    }

    private Running take() {
        return idleCount == 0 ? new Running() : idle[--idleCount];
    }

    private void put(Running call) {
        call.finish();
        if (idleCount == idle.length && idleCount < LeaseProcedures.MOST_CALLS) {
            idle = Arrays.copyOf(idle, idleCount * 2);
        }
        if (idleCount < idle.length) {
            idle[idleCount++] = call;
        }
    }

    RunQueue queue() {
        return queue;
    }

    void wake() {
        wake.run();
    }

    boolean hasEnded() {
        return ended;
    }

    /** What waits here is the other threads'. */
    @Override
    public void ended() {
        ended = true;
    }
}
