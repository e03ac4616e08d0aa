package io.farheap.procedure.service;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.farheap.procedure.format.CallFormat;
import io.farheap.procedure.translate.Translator;
import io.farheap.procedure.translate.instruction.RefusedProcedureException;
import io.farheap.procedure.translate.running.Translation;
import io.farheap.rpc.Arguments;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.PendingCall;
import io.farheap.rpc.Reply;
import io.farheap.rpc.RpcHandler;
import io.farheap.rpc.RpcHandlers;
import io.farheap.server.contract.CallInterleaving;
import io.farheap.server.contract.ServedCode;
import io.farheap.server.contract.ServedSpaces;
import io.farheap.server.contract.ServerOptions;
import io.farheap.server.service.ServerService;
import io.farheap.server.service.ServerWork;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Serves the operations of {@link CallFormat} on one memory server. It checks every field: any process with a lease may
 * send any bytes.
 */
public final class ProcedureServices implements ServerService, ThreadCalls.ServerThreadGroup {

    private static final System.Logger LOG = System.getLogger(ProcedureServices.class.getName());
    private static final int MOST_REGIONS = ServerOptions.MAX_REGIONS;
    private static final int MOST_TEXT = 4096;
    private static final long IDLE_SECONDS = 10;

    /** The calls of the server thread that reads it; a thread belongs to one server. */
    private static final ThreadLocal<@Nullable ThreadCalls> OWN = new ThreadLocal<>();

    private final Map<Long, LeaseProcedures> leases = new ConcurrentHashMap<>();
    /** Contexts that no call uses, of all threads. */
    private final CallContextPool spares = new CallContextPool();

    private volatile ThreadCalls[] threads = {};

    private final Runnable statistics = this::emitStatistics;
    private final Runnable leaseTimes = this::emitLeaseTimes;
    private String name = "";
    /**
     * Guarded by {@code statistics}. Whether threads were started and statistics are emitted; {@code closed}: that
     * neither happens any more.
     */
    private boolean begun;

    private boolean closed;
    private ServedCode mode = ServedCode.OFF;
    private CallInterleaving turns = CallInterleaving.MEASURED;
    private Runnable startThreads = () -> {};
    private final LongAdder registered = new LongAdder();
    /** Registrations that were refused for any reason except that the server runs no such procedures. */
    private final LongAdder refused = new LongAdder();
    /** Index of the thread that was called last when there was more to do; the next call takes the next thread. */
    private int called;

    private final ThreadPoolExecutor translating = translating();
    private final TranslationQueue translations = new TranslationQueue(translating);

    private static ThreadPoolExecutor translating() {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "farheap-procedures");
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    @Override
    public void install(ServerOptions options, RpcHandlers handlers, ServedSpaces spaces) {
        mode = options.procedures();
        turns = options.turns();
        name = options.name();
        if (mode == ServedCode.JAVA) {
            requireVerifier();
        }
        if (mode != ServedCode.OFF) {
            WarmUp.later(translating);
        }
        handlers.register(CallFormat.REGISTER, new Charged(true, this::register));
        handlers.register(CallFormat.UNREGISTER, new Charged(false, (held, in, out) -> {
            LeaseProcedures lease = leases.get(held.leaseKey());
            if (lease != null) {
                lease.remove(in.getInt(0));
            }
            return 0;
        }));
        handlers.register(CallFormat.MAP, new Charged(true, this::map));
        handlers.register(CallFormat.CALL, new Calls(false));
        handlers.register(CallFormat.RESUME, new Calls(true));
    }

    @Override
    public void threads(Runnable startAll) {
        startThreads = startAll;
    }

    /**
     * The JVM verifies the classes that are made from clients' classes, as a second check; it does so only if its
     * verifier is on.
     */
    private static void requireVerifier() {
        for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            if (argument.equals("-Xverify:none")
                    || argument.equals("-noverify")
                    || argument.equals("-XX:-BytecodeVerificationRemote")) {
                throw new IllegalArgumentException("clients' procedures in a JVM with " + argument
                        + ", which verifies no class; leave that option out, or run built-in procedures alone");
            }
        }
    }

    private static final class Calls implements RpcHandler {

        private final boolean resume;

        Calls(boolean resume) {
            this.resume = resume;
        }

        @Override
        public RpcHandler onThread() {
            return own().handler(resume);
        }

        @Override
        public int execute(HeldRegions held, Arguments in, Reply out) {
            return onThread().execute(held, in, out);
        }
    }

    /** An operation whose time its caller's lease is charged for. */
    private final class Charged implements RpcHandler {

        private final boolean first;
        private final RpcHandler operation;

        /** @param first whether it may be a lease's first operation; if not, a lease that has made none pays nothing */
        Charged(boolean first, RpcHandler operation) {
            this.first = first;
            this.operation = operation;
        }

        @Override
        public int execute(HeldRegions held, Arguments in, Reply out) {
            if (mode != ServedCode.OFF) {
                LeaseProcedures lease = first ? lease(held) : leases.get(held.leaseKey());
                if (lease != null) {
                    own().enter(lease);
                }
            }
            return operation.execute(held, in, out);
        }

        @Override
        public void executed() {
            own().charge();
        }
    }

    private static ThreadCalls own() {
        ThreadCalls thread = OWN.get();
        if (thread == null) {
            throw new IllegalStateException("a call on a thread that serves none");
        }
        return thread;
    }

    private int register(HeldRegions held, Arguments in, Reply out) {
        if (mode == ServedCode.OFF) {
            return text(out, CallFormat.NOT_SERVED, "the server runs no procedures");
        }
        int length = in.getInt(8);
        byte[] piece = new byte[Math.max(0, in.bytes() - CallFormat.REGISTER_BYTES)];
        for (int i = 0; i < piece.length; i++) {
            piece[i] = in.getByte(CallFormat.REGISTER_BYTES + i);
        }
        int id = in.getInt(0);
        int flags = in.getInt(4);
        LeaseProcedures lease = lease(held);
        byte[] file;
        try {
            file = lease.upload().classFile(id, length, in.getInt(12), piece);
        } catch (IllegalArgumentException e) {
            return text(out, CallFormat.REFUSED, String.valueOf(e.getMessage()));
        }
        if (file == null) {
            return text(out, CallFormat.MORE, "");
        }
        if (mode == ServedCode.BUILT_IN && !BuiltInClasses.contain(file)) {
            return text(
                    out,
                    CallFormat.NOT_SERVED,
                    "the server runs built-in procedures alone; start it with --procedures java");
        }
        if (!lease.mayRegister()) {
            return text(
                    out,
                    CallFormat.REFUSED,
                    "more than 10 registrations in a second; wait, and register procedures once");
        }
        AutoCloseable loan = lease.lendForProcedure();
        if (loan == null) {
            return text(
                    out,
                    CallFormat.REFUSED,
                    "this client has borrowed as much memory of procedures as it may; make fewer calls at once, "
                            + "unregister procedures, or add a memory server");
        }
        PendingCall pending = out.later();
        boolean added;
        try {
            added = translations.add(held.process(), () -> translate(lease, id, flags, file, loan, pending));
        } catch (Throwable e) {
            LeaseProcedures.giveBack(loan);
            throw e;
        }
        if (!added) {
            LeaseProcedures.giveBack(loan);
            return text(
                    out,
                    CallFormat.REFUSED,
                    TranslationQueue.MOST_OF_CLIENT
                            + " procedures of this client wait to be translated, as many as may; try again later");
        }
        return RpcHandler.LATER;
    }

    private void translate(
            LeaseProcedures lease, int id, int flags, byte[] file, AutoCloseable loan, PendingCall pending) {
        int outcome = CallFormat.REFUSED;
        String why = "";
        if (pending.cancelled()) {
            LeaseProcedures.giveBack(loan);
            return;
        }
        try {
            Translation translation = Translator.translate(file, Translator.Limits.DEFAULT);
            if (translation.writes() && (flags & CallFormat.READS) != 0) {
                why = translation.name() + " changes the cache, and was to be registered as one that only reads";
            } else {
                begin();
                lease.add(new ServedProcedure(id, translation, loan));
                outcome = CallFormat.REGISTERED;
                registered.increment();
            }
        } catch (RefusedProcedureException e) {
            why = String.valueOf(e.getMessage());
        } catch (Throwable e) {
            why = "the server cannot translate it: " + e;
        }
        if (outcome == CallFormat.REFUSED) {
            LeaseProcedures.giveBack(loan);
            refused.increment();
        }
        byte[] reason = bytes(why);
        byte[] answer = new byte[Math.min(pending.capacity(), Integer.BYTES + reason.length)];
        MemorySegment out = MemorySegment.ofArray(answer);
        out.set(JAVA_INT_UNALIGNED, 0, outcome);
        System.arraycopy(reason, 0, answer, Integer.BYTES, answer.length - Integer.BYTES);
        pending.answer(out);
    }

    /**
     * The first procedure was registered: starts all server threads, so that those without rings can take calls of
     * other threads. If that fails, calls run on the threads that there are.
     */
    private void begin() {
        synchronized (statistics) {
            if (begun || closed) {
                return;
            }
            begun = true;
            FlightRecorder.addPeriodicEvent(ProcedureStatisticsEvent.class, statistics);
            FlightRecorder.addPeriodicEvent(ProcedureLeaseTimeEvent.class, leaseTimes);
        }
        try {
            startThreads.run();
        } catch (RuntimeException | OutOfMemoryError e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "cannot start all server threads; calls of procedures run on those that there are",
                    e);
        }
    }

    private void emitStatistics() {
        ProcedureStatisticsEvent.emit(name, counters());
    }

    private void emitLeaseTimes() {
        leases.forEach((id, lease) -> ProcedureLeaseTimeEvent.emit(name, lease.client(), id, lease.used()));
    }

    @Override
    public void closed() {
        synchronized (statistics) {
            closed = true;
            if (begun) {
                FlightRecorder.removePeriodicEvent(statistics);
                FlightRecorder.removePeriodicEvent(leaseTimes);
            }
        }
    }

    private static byte[] bytes(String text) {
        byte[] all = text.getBytes(StandardCharsets.UTF_8);
        return Arrays.copyOf(all, Math.min(all.length, MOST_TEXT));
    }

    private int text(Reply out, int outcome, String why) {
        if (outcome == CallFormat.REFUSED) {
            refused.increment();
        }
        byte[] text = bytes(why);
        out.setInt(0, outcome);
        int length = Math.min(text.length, out.capacity() - Integer.BYTES);
        out.setBytes(Integer.BYTES, MemorySegment.ofArray(text), 0, length);
        return Integer.BYTES + length;
    }

    private LeaseProcedures lease(HeldRegions held) {
        return leases.computeIfAbsent(
                held.lease(), _ -> new LeaseProcedures(held.client(), System::nanoTime, held.lender()));
    }

    private int map(HeldRegions held, Arguments in, Reply out) {
        int count = in.getInt(16);
        if (count < 0 || count > (in.bytes() - CallFormat.MAP_BYTES) / Integer.BYTES) {
            throw new IllegalArgumentException("a piece of " + count + " regions in " + in.bytes() + " bytes");
        }
        int[] piece = new int[count];
        for (int i = 0; i < count; i++) {
            piece[i] = in.getInt(CallFormat.MAP_BYTES + i * Integer.BYTES);
        }
        if (mode == ServedCode.OFF) {
            // No call uses a map.
            out.setInt(0, 1);
            return Integer.BYTES;
        }
        // Write the answer first: if it has no room, an exception is thrown before anything takes effect.
        out.setInt(0, 0);
        LeaseProcedures lease = lease(held);
        int[] regions = lease.upload().map(in.getLong(0), in.getInt(8), in.getInt(12), piece, MOST_REGIONS);
        if (regions == null) {
            return Integer.BYTES;
        }
        LeaseProcedures.MapLoan loan = lease.lendForMap(regions.length);
        if (loan == null) {
            throw new IllegalArgumentException("a map of " + regions.length
                    + " regions for a client that has borrowed as much memory of procedures as it may; it needs larger "
                    + "regions, fewer calls at once, or fewer procedures");
        }
        try {
            LeaseRegionTable next =
                    new LeaseRegionTable(in.getLong(0), regions, Long.numberOfTrailingZeros(held.regionBytes()));
            own().slices().bringUpToDate(next, held);
            lease.map(next, loan);
        } catch (Throwable e) {
            LeaseProcedures.giveBack(loan.memory());
            throw e;
        }
        own().replaced(out.later());
        return RpcHandler.LATER;
    }

    @Override
    public UnderWaySlices underWay(ThreadCalls own) {
        ThreadCalls[] all = threads;
        SliceRunner[] slices = new SliceRunner[all.length];
        for (int i = 0; i < all.length; i++) {
            slices[i] = all[i].slices();
        }
        return new UnderWaySlices(slices, own.slices());
    }

    @Override
    public synchronized ServerWork work(Runnable wake) {
        ThreadCalls made = new ThreadCalls(threads.length, leases, turns, spares, this, wake);
        OWN.set(made);
        ThreadCalls[] all = Arrays.copyOf(threads, threads.length + 1);
        all[all.length - 1] = made;
        threads = all;
        return made;
    }

    @Override
    public @Nullable RunningCall steal(ThreadCalls thief) {
        for (ThreadCalls other : threads) {
            // The last call that waits belongs to its own thread, unless that thread has ended.
            if (other != thief && other.queue().size() > (other.hasEnded() ? 0 : 1)) {
                RunningCall stolen = other.queue().take();
                if (stolen != null) {
                    return stolen;
                }
            }
        }
        return null;
    }

    /** Wakes one more thread. A woken thread that finds further calls wakes the next. */
    @Override
    public void help(ThreadCalls busy) {
        ThreadCalls[] all = threads;
        ThreadCalls next = all[(++called & Integer.MAX_VALUE) % all.length];
        if (next != busy) {
            next.call();
        }
    }

    @Override
    public Map<String, Long> counters() {
        Map<String, Long> all = new TreeMap<>();
        for (int i = 0; i < CallCounters.COUNT; i++) {
            long sum = 0;
            for (ThreadCalls thread : threads) {
                sum += thread.counters().get(i);
            }
            all.put(CallCounters.NAMES.get(i), sum);
        }
        all.put("procedures.registered", registered.sum());
        all.put("procedures.refused", refused.sum());
        return all;
    }

    @Override
    public long callNanos(long leaseId) {
        LeaseProcedures lease = leases.get(leaseId);
        return lease == null ? 0 : lease.used();
    }

    @Override
    public void leaseEnded(long leaseId) {
        LeaseProcedures ended = leases.remove(leaseId);
        if (ended != null) {
            ended.end();
            for (ThreadCalls thread : threads) {
                thread.queue().forget(ended);
            }
        }
    }
}
