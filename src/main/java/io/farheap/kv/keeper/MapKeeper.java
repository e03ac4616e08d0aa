package io.farheap.kv.keeper;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.blocks.HeldBlocks;
import io.farheap.kv.blocks.KeeperWakeup;
import io.farheap.kv.blocks.Mailbox;
import io.farheap.kv.blocks.RequestEpochs;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.kv.space.TableReader;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RemoteSpace;
import io.farheap.thread.Uninterruptibles;
import io.farheap.time.TimeLimit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A process's side of a map's services: a thread that makes all calls to them, for all sessions. It fetches segments
 * and free blocks, gives back surplus blocks, sends what sessions have learned, keeps the map's clock, reports the
 * blocks that sessions hold when a service collects the blocks of dead processes, and reads the table for a service
 * that has chosen this process as its collector.
 */
public final class MapKeeper implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(MapKeeper.class.getName());
    private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long WATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long CLOSE_MILLIS = 2000;
    /** The time for a server that has joined to answer for the first time; if it does not, the map cannot be opened. */
    private static final long FIRST_NANOS = TimeLimit.of(TimeUnit.SECONDS.toNanos(5));

    private static final long ASK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** A session: its mailbox, a way to collect its held blocks, and a watch on its requests in flight. */
    private record ServedSession(Mailbox mailbox, Consumer<HeldBlocks> held, SessionWatch watch) {}

    private final MapServers servers;
    /** One for each server. */
    private final List<ServerHeartbeat> beats = new CopyOnWriteArrayList<>();

    private final SpaceMemory space;
    private final SynchronizedMapClock time;
    private final CloseStack resources = new CloseStack();
    private final TableReader table;
    private final Thread thread =
            Thread.ofPlatform().daemon().name("farheap-map-keeper").unstarted(this::run);
    private final List<ServedSession> sessions = new CopyOnWriteArrayList<>();
    private final KeeperWakeup bell = new KeeperWakeup(thread);
    private final MapKeeperTasks tasks = new MapKeeperTasks(bell);
    private final HeldBlocks held = new HeldBlocks();
    /** Blocks that go back, of all servers. */
    private final ReturnedBlocks givenBack;

    private final GrowthTracker growing;
    private final RequestEpochs eras = new RequestEpochs(this::oldestEra);
    private final BlockRequests requests;

    /** Sessions that are open. */
    private final AtomicInteger open = new AtomicInteger();

    private long nextWatch = System.nanoTime();
    private volatile Runnable afterSession = () -> {};
    private volatile @Nullable Consumer<MapServiceClient> emptier;
    private volatile boolean closed;
    private volatile boolean dropped;

    /**
     * Registers the process with the map's servers.
     *
     * @param joins the map's servers; the keeper adds those that have joined, and removes those that leave
     * @param spaces of the servers that have the table, by their numbers
     * @throws MapException if a server has no service for maps
     */
    public MapKeeper(
            MapServers joins, SortedMap<Integer, RemoteSpace> spaces, SpaceMemory space, SynchronizedMapClock time) {
        this.servers = joins;
        this.space = space;
        this.time = time;
        growing = new GrowthTracker(servers, space, eras, this::joined, this::left);
        requests = new BlockRequests(
                servers,
                space,
                () -> sessions.stream().map(ServedSession::mailbox).toList(),
                this::hurryAll);
        givenBack = new ReturnedBlocks(servers, space, requests::takenLate);
        try {
            resources.add(servers);
            table = resources.add(new TableReader(servers.remote(), space));
            spaces.forEach((number, each) -> joined(servers.open(each, number)));
            growing.learn();
            hearAll();
            servers.all().forEach(each -> each.line().isPatient(false));
        } catch (Throwable e) {
            // It holds nothing, so the servers need not take it for a process that has died.
            Closeables.after(e, this::leaveAll, resources);
            throw e;
        }
        thread.start();
    }

    /**
     * Beats to each server before the map is used. So the map's clock is known before it is read, and the process knows
     * which servers are about to leave before it has a session: the process that drains a server waits until all
     * registered processes know, and may have ended that wait before this one registered.
     */
    private void hearAll() {
        for (ServerHeartbeat each : beats) {
            boolean mayLeave = each.server() >= space.layout().madeOn();
            long deadline = System.nanoTime() + FIRST_NANOS;
            each.beat(this::report);
            // Repeated, since a connection that was lost is being made again.
            while (mayLeave && !each.heard() && System.nanoTime() - deadline < 0) {
                Uninterruptibles.parkNanos(this, ASK_AGAIN_NANOS);
                each.beat(this::report);
            }
            if (mayLeave && !each.heard()) {
                MapServer silent = Objects.requireNonNull(servers.of(each.server()));
                throw new MapException("server " + silent.address()
                        + ", which has joined the map, does not say whether it is to leave: try again; "
                        + "if it is lost for good, take it out of the map: farheap kv drain --lost");
            }
        }
    }

    private void joined(MapServiceClient line) {
        // Until the keeper's thread begins, other threads wait for it to open the map.
        line.isPatient(thread.getState() == Thread.State.NEW);
        servers.add(new MapServer(line.number, line.space, line));
        beats.add(new ServerHeartbeat(
                line, beats, space, time, new BlockCollector(line, table, space), eras, growing, this::empty));
    }

    /** A server has chosen this process to empty its segments. */
    private void empty(MapServiceClient line) {
        Consumer<MapServiceClient> by = emptier;
        if (by != null) {
            by.accept(line);
        }
    }

    /** Sets the function that empties segments if a server asks for it; it must not wait. */
    public void emptiesBy(Consumer<MapServiceClient> by) {
        emptier = by;
    }

    private void left(MapServer server) {
        space.empties(server.number(), new long[0]);
        beats.removeIf(each -> each.server() == server.number());
        servers.leave(server);
        givenBack.forget(server.number());
    }

    /** A mailbox for a session that is being opened. */
    public Mailbox mailbox(int learnedWords) {
        return new Mailbox(bell, eras, learnedWords);
    }

    /**
     * Serves a session from now on. The parameters but the first two are as of {@link SessionWatch}.
     *
     * @param holdings adds the blocks that the session holds
     */
    public void serve(
            Mailbox mailbox,
            Consumer<HeldBlocks> holdings,
            LongSupplier oldestEra,
            LongSupplier polls,
            Supplier<CompletableFuture<Void>> cut) {
        open.incrementAndGet();
        sessions.add(new ServedSession(mailbox, holdings, new SessionWatch(oldestEra, polls, cut)));
    }

    /** Whether a session is open. */
    public boolean hasSessions() {
        return open.get() > 0;
    }

    /** Sets what runs whenever a session has been closed, on the thread that closes it. */
    public void afterSessions(Runnable then) {
        afterSession = then;
    }

    /**
     * A session is closed, and its blocks go back.
     *
     * @param sure whether all of its requests have ended with a known outcome; if not, its blocks stay held until this
     *     process ends
     */
    public void closed(Mailbox mailbox, BlockAllocator allocator, boolean sure) {
        if (sure) {
            tasks.add(() -> takeBack(mailbox, allocator));
        }
        open.decrementAndGet();
        afterSession.run();
    }

    private void takeBack(Mailbox mailbox, BlockAllocator allocator) {
        HeldBlocks rest = new HeldBlocks();
        allocator.forEachFree(rest::add);
        mailbox.held(rest);
        givenBack.add(rest);
        givenBack.collect(mailbox);
        sweepFor(mailbox);
        sessions.removeIf(session -> session.mailbox == mailbox);
    }

    /** Whether this has been closed. */
    public boolean isClosed() {
        return closed;
    }

    private void run() {
        while (!closed) {
            try {
                bell.hear();
                if (!work() && !bell.rings()) {
                    servers.first().line().await(rest());
                }
            } catch (Throwable e) {
                // An Error too: all processes wait for a process that lives and does not report.
                if (!closed) {
                    LOG.log(System.Logger.Level.WARNING, "a map's keeper continues after an error", e);
                    LockSupport.parkNanos(REST_NANOS);
                }
            }
        }
    }

    /** @return whether there may be more to do at once */
    private boolean work() {
        boolean busy = tasks.run();
        for (ServedSession session : sessions) {
            givenBack.collect(session.mailbox);
            sweepFor(session.mailbox);
        }
        watch();
        busy |= givenBack.give(false);
        requests.begin();
        for (ServedSession session : sessions) {
            busy |= requests.fetch(session.mailbox) | learn(session.mailbox);
        }
        boolean hope = false;
        for (ServerHeartbeat each : beats) {
            hope |= each.beatIfDue(this::report);
            busy |= each.collect();
        }
        if (growing.goOn()) {
            hurryAll();
        }
        if (hope) {
            sessions.forEach(session -> session.mailbox.hope());
        }
        return busy;
    }

    private void watch() {
        long now = System.nanoTime();
        if (now - nextWatch >= 0) {
            nextWatch = now + WATCH_NANOS;
            sessions.forEach(session -> session.watch.look(eras.present(), now));
        }
    }

    /** Any server may have blocks that the session has let go, as objects have pieces on several. */
    private void sweepFor(Mailbox mailbox) {
        if (mailbox.takeLostSight()) {
            beats.forEach(ServerHeartbeat::owesSweep);
        }
    }

    private void hurryAll() {
        beats.forEach(ServerHeartbeat::hurry);
    }

    private long oldestEra() {
        long oldest = Long.MAX_VALUE;
        for (ServedSession session : sessions) {
            oldest = Math.min(oldest, session.watch.oldestEra());
        }
        return oldest;
    }

    /** How long the thread may sleep, in nanoseconds. */
    private long rest() {
        long now = System.nanoTime();
        long nanos = requests.waits() || growing.underWay() ? SOON_NANOS : REST_NANOS;
        for (ServerHeartbeat each : beats) {
            nanos = Math.min(nanos, each.next() - now);
        }
        return Math.max(1, nanos);
    }

    private boolean learn(Mailbox mailbox) {
        if (!mailbox.asksToLearn()) {
            return false;
        }
        MapServiceClient line = servers.first().line();
        long[] words = mailbox.learned();
        for (int i = 0; i < words.length; i++) {
            line.with(1 + i, words[i]);
        }
        boolean did = line.call(MapCalls.LEARN, 1 + words.length);
        for (int i = 0; did && i < words.length; i++) {
            words[i] = line.reply(1 + i);
        }
        mailbox.answerLearned(did);
        return true;
    }

    /** Reports the blocks of a server that this process holds; see {@link MapCalls#HOLD}. */
    private void report(MapServiceClient line, long round, long phase) {
        if (line.unanswered()) {
            return;
        }
        held.clear();
        addHeld();
        try {
            if (!addPieces()) {
                // Such an object's pieces were freed meanwhile: they are free now, or used again.
                addHeld();
            }
        } catch (MapException e) {
            // A server is lost, so the report would not be complete; the service asks again.
            return;
        }
        held.distinct();
        int n = 0;
        for (int i = 0; i < held.count(); i++) {
            if (space.serverOf(held.word(i)) == line.number) {
                line.with(5 + n++, held.word(i));
                if (n == MapCalls.MOST_WORDS) {
                    if (!send(line, round, phase, false, n)) {
                        return;
                    }
                    n = 0;
                }
            }
        }
        send(line, round, phase, true, n);
    }

    private void addHeld() {
        for (ServedSession session : sessions) {
            session.held.accept(held);
        }
        givenBack.held(held);
    }

    /**
     * Adds the pieces of all indexes that were found.
     *
     * @return false if an index could not be read as it was found
     */
    private boolean addPieces() {
        boolean all = true;
        for (int i = held.indexCount() - 1; i >= 0; i--) {
            int pieces = table.readIndex(held.index(i));
            all &= pieces > 0;
            for (int piece = 0; piece < pieces; piece++) {
                held.add(table.piece(piece));
            }
        }
        return all;
    }

    private static boolean send(MapServiceClient line, long round, long phase, boolean last, int n) {
        line.with(1, round).with(2, phase).with(3, last ? 1 : 0).with(4, n);
        return line.call(MapCalls.HOLD, 5 + n);
    }

    /** The means by which other threads have this thread call servers. */
    public MapKeeperTasks tasks() {
        return tasks;
    }

    /** Whether all processes and servers use this layout; makes them report it soon. The keeper's thread. */
    public boolean usedByAll(RegionDirectory layout) {
        hurryAll();
        if (growing.known() < layout.growths()) {
            return false;
        }
        for (ServerHeartbeat each : beats) {
            if (each.regions() < layout.regionsOf(each.server())) {
                return false;
            }
        }
        return true;
    }

    /** How many segments all servers have handed out. */
    public long segmentsTaken() {
        long sum = 0;
        for (MapServer server : servers.all()) {
            MapServiceClient line = server.line();
            sum += tasks.ask(line, () -> line.call(MapCalls.STATE, 1) ? Optional.of(line.reply(1)) : Optional.empty());
        }
        return sum;
    }

    /** How many segments all servers have emptied, and how many are being emptied. */
    public long[] emptied() {
        long[] sum = new long[2];
        for (MapServer server : servers.all()) {
            MapServiceClient line = server.line();
            tasks.ask(line, () -> {
                if (!line.call(MapCalls.STATE, 1)) {
                    return Optional.empty();
                }
                sum[0] += line.reply(3 + (int) line.reply(2));
                sum[1] += line.reply(4 + (int) line.reply(2));
                return Optional.of(true);
            });
        }
        return sum;
    }

    /** The weight of each expert, by what all sessions have learned. */
    public double[] weights() {
        MapServiceClient line = servers.first().line();
        return tasks.ask(line, () -> {
            if (!line.call(MapCalls.STATE, 1)) {
                return Optional.empty();
            }
            double[] weights = new double[(int) line.reply(2)];
            for (int i = 0; i < weights.length; i++) {
                weights[i] = Double.longBitsToDouble(line.reply(3 + i));
            }
            return Optional.of(weights);
        });
    }

    /** Ends without giving anything back, since the map has ended. */
    public void drop() {
        dropped = true;
        close();
    }

    /** Gives back the blocks of closed sessions, if the servers answer soon, and ends the thread. Idempotent. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        // From now on servers may hear that this process uses the map no more.
        space.leaveMap();
        tasks.close();
        try {
            thread.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            // The thread still uses what would be closed here; that ends with the map's memory.
            tasks.abandon();
            return;
        }
        try {
            if (!dropped) {
                leave();
            }
        } finally {
            tasks.abandon();
            resources.close();
        }
    }

    private void leaveAll() {
        for (MapServer server : servers.all()) {
            server.line().isPatient(false);
            server.line().call(MapCalls.LEAVE, 1);
        }
    }

    private void leave() {
        tasks.run();
        sessions.forEach(session -> givenBack.collect(session.mailbox));
        while (givenBack.give(true)) {
            // Until there is nothing more, or no answer.
        }
        for (MapServer server : servers.all()) {
            MapServiceClient line = server.line();
            if (sessions.isEmpty() && givenBack.isEmpty(line.number) && !line.unanswered() && !owesSweep(line.number)) {
                line.call(MapCalls.LEAVE, 1);
            }
        }
    }

    /** Whether a server must still find blocks that were let go: it does so if the lease ends without a leave. */
    private boolean owesSweep(int server) {
        return beats.stream().anyMatch(each -> each.server() == server && each.mustAskForSweep());
    }
}
