package io.farheap.procedure.service;

import io.farheap.memory.NativeMemory;
import io.farheap.posix.ThreadProcessorTime;
import io.farheap.procedure.Call;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.format.CallFormat;
import io.farheap.procedure.translate.running.CallContext;
import io.farheap.rpc.Arguments;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.MessageRing;
import io.farheap.rpc.PendingCall;
import io.farheap.rpc.Reply;
import io.farheap.rpc.RpcHandler;
import io.farheap.server.contract.CallInterleaving;
import io.farheap.server.service.ServerWork;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Runs calls on one server thread. A call begins while the batch that it came in is served, and most calls end there:
 * one after another, or all of the batch in turns ({@link SliceRunner}). A call that takes longer waits in the
 * {@link RunQueue} and continues in slices between rounds of the thread's message rings. A thread without waiting calls
 * takes those of other threads.
 */
final class ThreadCalls implements ServerWork {

    /**
     * Most waiting calls that run in turns in one slice: at least as many as the cache misses that a core can have in
     * flight.
     */
    private static final int GROUP = 16;
    /** Most calls of a batch that begin together, to run in turns: their contexts are lent to no client. */
    private static final int MOST_BEGUN = MessageRing.MOST_AT_ONCE;
    /** Of calls that run one after another, one of so many is timed on average. */
    private static final int TIMED = 32;
    /**
     * A thread that took a call of another thread looks for more for this time before it sleeps, since waking it takes
     * as long.
     */
    private static final long LINGER_NANOS = 100_000;
    /**
     * The least time between two heavy fences, which cost all threads of the process some time, from whichever client
     * maps come.
     */
    private static final long FENCE_NANOS = 100_000;

    /** The handler of {@link CallFormat#CALL} or {@link CallFormat#RESUME} on this thread. */
    private final class Handler implements RpcHandler {

        private final boolean resume;

        Handler(boolean resume) {
            this.resume = resume;
        }

        @Override
        public long touch(HeldRegions held, Arguments in) {
            return ThreadCalls.this.touch(resume, held, in);
        }

        @Override
        public int execute(HeldRegions held, Arguments in, Reply out) {
            return ThreadCalls.this.execute(resume, held, in, out);
        }

        @Override
        public void executed() {
            charge();
        }
    }

    private final Handler calls = new Handler(false);
    private final Handler resumes = new Handler(true);
    private final int number;
    private final Map<Long, LeaseProcedures> leases;
    private final CallInterleaving turnTaking;
    private final ServerThreadGroup peers;
    private final Runnable wake;
    private final RunQueue queue;
    private final SliceRunner slices = new SliceRunner();
    private final CallAnswers answers = new CallAnswers();
    private final CallCounters counters = new CallCounters();
    private final RunningTime time;
    private final FirstSlices firstSlices;
    /** The lease whose calls of a batch are being executed, when they began, and what their fuel takes; else null. */
    private @Nullable LeaseProcedures charged;

    private long began;
    private double expected;

    /** The lease that was looked up last: most calls of a batch are of one lease. */
    private @Nullable HeldRegions lastHeld;

    private @Nullable LeaseProcedures last;
    private final CallContextPool spares;
    private final RunningCall[] idle = new RunningCall[GROUP];
    private int idleCount;
    /** Calls of the current batch that have begun, to run in turns, and how many of them have been answered. */
    private final RunningCall[] begun = new RunningCall[MOST_BEGUN];

    private int begunCount;
    private int executed;
    private boolean ran;
    /** Why the last call was refused: a reason of {@link CallStatus}. */
    private int refusal;

    /** Replies to maps that were replaced since {@code underWay} was made. */
    private final List<PendingCall> replaced = new ArrayList<>();
    /** Replies to maps that were replaced before; they are sent when no slice uses the old maps any more. */
    private final List<PendingCall> replacing = new ArrayList<>();
    /** The slices that may use old maps; null if {@code replacing} is empty. */
    private @Nullable UnderWaySlices underWay;
    /** When {@code underWay} was made last. */
    private long fencedAt;

    private final MemorySegment mapAnswer = Arena.ofAuto().allocate(Integer.BYTES);
    private final RunningCall[] group = new RunningCall[GROUP];
    /**
     * First slices until one is timed: a random number, so that no client can arrange that all of those that are timed
     * are its own, or another's.
     */
    private int untilTimed = 1;

    private long random = System.nanoTime() | 1;
    /** When the last slice ended, and how long it took; 0 if rings have had as much time since. */
    private long sliceEnd;

    private long sliceNanos;
    /** For how long the thread has run calls, in ns. */
    private long worked;
    /**
     * The lease whose batch was charged last, or had to wait, and the one before it; and how long the thread had run
     * calls by then.
     */
    private @Nullable LeaseProcedures recent;

    private long recentAt;
    private @Nullable LeaseProcedures other;
    private long otherAt;
    /** A client whose batches wait in this pass over the thread's rings; it may have many. */
    private @Nullable HeldRegions waiting;

    private boolean lingers;
    /** The thread was woken or need not be woken: it looks for work before it sleeps. */
    private volatile boolean called;

    private volatile boolean ended;

    /** The threads of one server. */
    interface ServerThreadGroup {

        /** A call of another thread, or null. */
        @Nullable
        RunningCall steal(ThreadCalls thief);

        /** Tells the group that one thread has more to do than it can do at once. */
        void help(ThreadCalls busy);

        /** Called after maps of leases were replaced: the slices that may still use the old maps. */
        UnderWaySlices underWay(ThreadCalls own);
    }

    /**
     * @param number of the thread among its server's
     * @param leases the state of each lease, by its id
     * @param spares of all of them
     * @param wake makes the thread look for work
     */
    ThreadCalls(
            int number,
            Map<Long, LeaseProcedures> leases,
            CallInterleaving turns,
            CallContextPool spares,
            ServerThreadGroup peers,
            Runnable wake) {
        this(
                number,
                leases,
                turns,
                spares,
                peers,
                wake,
                new RunningTime(System::nanoTime, new ThreadProcessorTime()::nanos));
    }

    /** The same, with clocks. */
    ThreadCalls(
            int number,
            Map<Long, LeaseProcedures> leases,
            CallInterleaving turns,
            CallContextPool spares,
            ServerThreadGroup peers,
            Runnable wake,
            RunningTime time) {
        this.time = time;
        this.queue = new RunQueue(time::now);
        this.firstSlices = new FirstSlices(time::now);
        this.fencedAt = time.now();
        this.spares = spares;
        this.number = number;
        this.leases = leases;
        this.turnTaking = turns;
        this.peers = peers;
        this.wake = wake;
        this.mapAnswer.set(ValueLayout.JAVA_INT_UNALIGNED, 0, 1);
    }

    private boolean turns(ServedProcedure procedure) {
        return turnTaking == CallInterleaving.ALWAYS || turnTaking == CallInterleaving.MEASURED && procedure.turns();
    }

    RpcHandler handler(boolean resume) {
        return resume ? resumes : calls;
    }

    /**
     * Begins a call that is to run in turns with the others; otherwise returns the address of the first word that it
     * needs.
     */
    private long touch(boolean resume, HeldRegions held, Arguments in) {
        if (ran) {
            // Left over from a batch whose calls were not all executed.
            forgetBegun();
        }
        LeaseProcedures lease = lease(held);
        if (lease == null) {
            return RpcHandler.NOWHERE;
        }
        enter(lease);
        ServedProcedure procedure = lease.find(in.getInt(0));
        if (procedure != null && begunCount < MOST_BEGUN && turns(procedure)) {
            RunningCall call = begin(resume, held, lease, procedure, in);
            if (call != null) {
                call.at = in.address(0, 0);
                begun[begunCount++] = call;
                return RpcHandler.NOWHERE;
            }
        }
        LeaseRegionTable map = lease.map();
        long address = map.isFresh(held) ? map.address(in.getLong(24)) : 0;
        return address == 0 ? RpcHandler.NOWHERE : held.place(address);
    }

    // A call that has begun has a lease and a procedure.
    @SuppressWarnings("NullAway")
    private int execute(boolean resume, HeldRegions held, Arguments in, Reply out) {
        RunningCall call = takeBegun(held, in.address(0, 0));
        if (call == null) {
            LeaseProcedures lease = lease(held);
            if (lease != null) {
                enter(lease);
            }
            ServedProcedure procedure = lease == null ? null : lease.find(in.getInt(0));
            refusal = CallStatus.NO_PROCEDURE;
            call = procedure == null ? null : begin(resume, held, lease, procedure, in);
            if (call == null) {
                return refuse(out);
            }
            if (firstSlices.mayRun()) {
                first(call);
            } else {
                call.left = CallContext.FUEL;
            }
        }
        if (call.left == CallContext.FUEL || call.left == CallContext.TURN) {
            LeaseProcedures lease = call.lease;
            lease.putOff();
            counters.add(CallCounters.PUT_OFF, 1);
            call.pending = out.goesOn();
            call.home = number;
            add(call, lease);
            return RpcHandler.LATER;
        }
        int length = answers.reply(call, out);
        counters.ended(answers.status());
        put(call);
        return length;
    }

    private int refuse(Reply out) {
        counters.ended(CallStatus.REFUSED);
        return answers.refused(out, refusal);
    }

    /** The first slice of a call that runs alone. */
    // As in execute.
    @SuppressWarnings("NullAway")
    private void first(RunningCall call) {
        ServedProcedure procedure = call.procedure;
        boolean timed = --untilTimed <= 0;
        long started = timed ? time.now() : 0;
        long units = slices.one(call, procedure.firstFuel());
        if (timed) {
            untilTimed = distance();
            procedure.took(false, units, time.now() - started);
        }
        counters.add(CallCounters.FUEL, units);
        double nanos = procedure.estimate(units);
        firstSlices.ran(nanos);
        expected += nanos;
    }

    /** Marsaglia's xorshift; 1 to 2 * TIMED - 1, TIMED on average. */
    private int distance() {
        random ^= random << 13;
        random ^= random >>> 7;
        random ^= random << 17;
        return 1 + (int) Long.remainderUnsigned(random, 2 * TIMED - 1);
    }

    /** A lease's requests of a batch are executed from now on, until {@link #charge}. */
    void enter(LeaseProcedures lease) {
        if (charged != lease) {
            charge();
            charged = lease;
            began = time.begin();
            expected = 0;
            firstSlices.begin(began);
            slices.beginWork();
        }
    }

    /** Charges the lease whose requests were executed. */
    void charge() {
        LeaseProcedures lease = charged;
        if (lease != null) {
            charged = null;
            long nanos = used(lease, began, time.now(), expected);
            came(lease);
            if (!isAlone()) {
                queue.ran(lease, nanos, true, worked);
            }
        }
    }

    private void came(LeaseProcedures lease) {
        if (lease != recent) {
            // One that has ended is not kept.
            other = recent == null || recent.ended() ? null : recent;
            otherAt = recentAt;
            recent = lease;
        }
        recentAt = worked;
    }

    /** Whether all calls here are of one lease, and end in their batches: then none waits, and no lock is taken. */
    private boolean isAlone() {
        return queue.size() == 0 && (other == null || worked - otherAt > RunQueue.AWAY);
    }

    private long used(LeaseProcedures lease, long from, long to, double fuelNanos) {
        long nanos = time.ran(from, to);
        if (to - from >= RunningTime.LONG_NANOS) {
            counters.add(CallCounters.JVM_NANOS, Math.max(0, nanos - (long) fuelNanos));
        }
        lease.used(nanos);
        worked += nanos;
        return nanos;
    }

    /**
     * Returns the call whose message is at {@code at}, if it has begun; at the first call of a batch, all that have
     * begun run in turns.
     */
    // As in execute.
    @SuppressWarnings("NullAway")
    private @Nullable RunningCall takeBegun(HeldRegions held, long at) {
        if (begunCount == 0) {
            return null;
        }
        if (!ran) {
            if (begun[0].held != held) {
                forgetBegun();
                return null;
            }
            ran = true;
            firstOfAll();
        }
        if (executed < begunCount && begun[executed].at == at && begun[executed].held == held) {
            RunningCall call = begun[executed++];
            if (executed == begunCount) {
                forgetBegun();
            }
            return call;
        }
        return null;
    }

    // As in execute.
    @SuppressWarnings("NullAway")
    private void firstOfAll() {
        if (begunCount == 1) {
            first(begun[0]);
            return;
        }
        ServedProcedure procedure = begun[0].procedure;
        long started = time.now();
        int fuel = Math.max(1, Math.min(procedure.firstFuel(), 2 * procedure.sliceFuel() / begunCount));
        long units = slices.inTurns(begun, begunCount, fuel);
        long nanos = time.now() - started;
        firstSlices.ran((double) nanos);
        expected += procedure.estimate(units);
        procedure.took(true, units, nanos);
        counters.add(CallCounters.FUEL, units);
        counters.add(CallCounters.TURNS, begunCount);
    }

    private void forgetBegun() {
        for (int i = executed; i < begunCount; i++) {
            put(begun[i]);
        }
        begunCount = 0;
        executed = 0;
        ran = false;
    }

    /**
     * Begins a call.
     *
     * @return null if it is refused
     */
    private @Nullable RunningCall begin(
            boolean resume, HeldRegions held, LeaseProcedures lease, ServedProcedure procedure, Arguments in) {
        int bytes = in.bytes() - CallFormat.CALL_BYTES;
        int capacity = in.getInt(4);
        if (bytes < 0
                || !resume && bytes > Call.ARGUMENT_BYTES
                || capacity < 0
                || capacity > Call.RESULT_BYTES
                || capacity > in.replyCapacity() - CallFormat.REPLY_BYTES) {
            refusal = CallStatus.MALFORMED;
            return null;
        }
        if (!lease.mayBegin(begunCount - executed)) {
            refusal = CallStatus.TOO_MANY_CALLS;
            return null;
        }
        long from = in.getLong(8);
        long span = in.getLong(16);
        if ((from | span) < 0) {
            // Not a footprint: the call gets one without bytes.
            from = 0;
            span = 0;
        }
        RunningCall call = take();
        call.begin(held, lease, procedure);
        call.end = from + span;
        CallContext context = call.context;
        context.begin(procedure.translation.code(), from, span, resume ? 0 : bytes, capacity, CallFormat.FUEL_LIMIT);
        long at = in.address(CallFormat.CALL_BYTES, bytes);
        if (!resume) {
            MemorySegment.copy(NativeMemory.ALL, at, NativeMemory.ALL, context.argumentsAddress(), bytes);
        } else if (!context.load(NativeMemory.ALL, at, bytes)) {
            refusal = CallStatus.FOREIGN_CONTEXT;
            put(call);
            return null;
        }
        return call;
    }

    /** A lease has one such object, and its id is not used again. */
    private @Nullable LeaseProcedures lease(HeldRegions held) {
        return held == lastHeld && last != null ? last : find(held);
    }

    /** The same, but null for a lease that had none when it was looked up last. */
    private @Nullable LeaseProcedures knownLease(HeldRegions held) {
        return held == lastHeld ? last : find(held);
    }

    private @Nullable LeaseProcedures find(HeldRegions held) {
        lastHeld = held;
        last = leases.get(held.leaseKey());
        return last;
    }

    private void add(RunningCall call, LeaseProcedures lease) {
        queue.add(call, lease, worked);
        if (queue.size() > 1) {
            peers.help(this);
        }
    }

    /**
     * Runs one slice: of a call of this thread, of a call of another thread, or of several calls in turns. While rings
     * are busy, they get as much time between two slices as the last slice took.
     */
    @Override
    public boolean run(boolean busy) {
        if (called) {
            called = false;
        }
        charge();
        boolean answered = answerReplaced();
        if (queue.size() > 0 && queue.yields(worked)) {
            return true;
        }
        if (busy && sliceNanos > 0 && time.now() - sliceEnd < sliceNanos) {
            return true;
        }
        sliceNanos = 0;
        RunningCall call = queue.take();
        if (call == null) {
            call = peers.steal(this);
            if (call == null) {
                lingers = lingers && time.now() - sliceEnd < LINGER_NANOS;
                return lingers || answered;
            }
            lingers = true;
        }
        goOn(call);
        return true;
    }

    /** Batches of a lease that has never made a call do not wait. */
    @Override
    public boolean waits(HeldRegions client) {
        if (client == waiting) {
            return true;
        }
        if (recent == null) {
            return false;
        }
        LeaseProcedures lease = knownLease(client);
        if (lease == null || lease == recent && isAlone() || !queue.waits(lease, worked)) {
            return false;
        }
        waiting = client;
        came(lease);
        return true;
    }

    @Override
    public boolean passEnds() {
        waiting = null;
        return queue.passEnds(worked);
    }

    /** A map of a lease was replaced; its reply is sent in a later round, with those of all others of this round. */
    void replaced(PendingCall call) {
        replaced.add(call);
    }

    /**
     * Sends replies to replaced maps if no slice uses the old ones any more. The thread does not wait for others: it
     * looks again in its next round.
     *
     * @return whether there are replies to send, now or later
     */
    private boolean answerReplaced() {
        if (underWay == null) {
            if (replaced.isEmpty()) {
                return false;
            }
            if (time.now() - fencedAt < FENCE_NANOS) {
                return true;
            }
            fencedAt = time.now();
            replacing.addAll(replaced);
            replaced.clear();
            underWay = peers.underWay(this);
        }
        if (underWay.over()) {
            for (PendingCall call : replacing) {
                call.answer(mapAnswer);
            }
            replacing.clear();
            underWay = null;
        }
        return true;
    }

    // A call that waits has all these fields.
    @SuppressWarnings("NullAway")
    private void goOn(RunningCall first) {
        LeaseProcedures lease = first.lease;
        ServedProcedure procedure = first.procedure;
        group[0] = first;
        int all = turns(procedure) ? queue.takeMore(lease, group, 1, GROUP) : 1;
        int count = 0;
        for (int i = 0; i < all; i++) {
            RunningCall call = group[i];
            if (call.pending.cancelled() || lease.ended()) {
                end(call, lease);
            } else {
                group[count++] = call;
            }
        }
        if (lease.ended()) {
            queue.forget(lease);
        } else if (count > 0) {
            slice(lease, procedure, count);
            for (int i = 0; i < count; i++) {
                sliced(group[i], lease);
            }
        }
        Arrays.fill(group, 0, all, null);
    }

    private void slice(LeaseProcedures lease, ServedProcedure procedure, int count) {
        slices.beginWork();
        long started = time.begin();
        long units = count == 1
                ? slices.one(group[0], procedure.sliceFuel())
                : slices.inTurns(group, count, Math.max(1, procedure.sliceFuel() / count));
        sliceEnd = time.now();
        sliceNanos = sliceEnd - started;
        long nanos = used(lease, started, sliceEnd, procedure.estimate(units));
        queue.ran(lease, nanos, false, worked);
        // Recorded even if the call ended: otherwise calls a little longer than a first slice of cold code would always
        // have to wait.
        procedure.took(count > 1, units, nanos);
        counters.add(CallCounters.FUEL, units);
        counters.add(CallCounters.SLICES, 1);
        counters.add(CallCounters.SLICE_NANOS, nanos);
        if (count > 1) {
            counters.add(CallCounters.TURNS, count);
        }
    }

    // As in goOn.
    @SuppressWarnings("NullAway")
    private void sliced(RunningCall call, LeaseProcedures lease) {
        if (call.left == CallContext.FUEL || call.left == CallContext.TURN) {
            add(call, lease);
            return;
        }
        PendingCall pending = call.pending;
        answers.reply(call, pending);
        counters.ended(answers.status());
        if (call.home != number) {
            counters.add(CallCounters.STOLEN, 1);
        }
        end(call, lease);
    }

    private void end(RunningCall call, LeaseProcedures lease) {
        lease.finish();
        put(call);
    }

    private RunningCall take() {
        if (idleCount > 0) {
            return idle[--idleCount];
        }
        RunningCall spare = spares.take();
        return spare == null ? new RunningCall() : spare;
    }

    private void put(RunningCall call) {
        call.finish();
        if (idleCount < idle.length) {
            idle[idleCount++] = call;
        } else {
            spares.put(call);
        }
    }

    RunQueue queue() {
        return queue;
    }

    SliceRunner slices() {
        return slices;
    }

    CallCounters counters() {
        return counters;
    }

    /** Wakes the thread: there is work in its queue or in another one. Any thread. */
    void call() {
        if (!called) {
            called = true;
            wake.run();
        }
    }

    boolean hasEnded() {
        return ended;
    }

    /** The calls that wait here are left to the other threads. */
    @Override
    public void ended() {
        charge();
        ended = true;
    }
}
