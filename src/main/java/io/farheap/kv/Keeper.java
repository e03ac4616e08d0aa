package io.farheap.kv;

import io.farheap.control.ControlException;
import io.farheap.kv.service.MapCalls;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closing;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * One process's end of a map's services: a thread that makes all calls to them, for all sessions. It fetches segments
 * and free blocks, and brings back what sessions have too many of; sends what they have learned; learns the map's time;
 * says what they hold when a service collects what dead processes had, and reads the table for it where it is told to.
 */
final class Keeper implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Keeper.class.getName());
    private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long CLOSE_MILLIS = 2000;

    /** A session: its mailbox, and how to find what it holds. */
    private record Served(Mailbox mailbox, Consumer<HeldBlocks> held, LongSupplier oldestEra) {}

    private final List<ServiceLine> lines = new ArrayList<>();
    private final List<Beats> beats = new ArrayList<>();
    private final SpaceMemory space;
    private final CloseStack resources = new CloseStack();
    private final TableReader table;
    private final Thread thread =
            Thread.ofPlatform().daemon().name("farheap-map-keeper").unstarted(this::run);
    private final List<Served> sessions = new CopyOnWriteArrayList<>();
    private final KeeperTasks tasks = new KeeperTasks(thread);
    private final HeldBlocks held = new HeldBlocks();
    /** Blocks that are to be given back, of all servers. */
    private final GivenBack givenBack;

    private final Growing growing;
    private final MoreMemory moreMemory;
    private final Eras eras = new Eras(this::oldestEra);
    private int nextLine;
    /** Somebody waits for what there is to be soon. */
    private boolean waiting;

    private volatile boolean closed;
    private volatile boolean dropped;

    /**
     * Registers the process with the map's servers.
     *
     * @param spaces in the order of the map's servers
     * @throws MapException where a server has no such service
     */
    Keeper(RemoteMemory remote, List<RemoteSpace> spaces, SpaceMemory space, MapTime time) {
        this.space = space;
        growing = new Growing(lines, spaces, space);
        moreMemory = new MoreMemory(tasks, lines, this::handsOut);
        long process = ThreadLocalRandom.current().nextLong();
        try {
            table = resources.add(new TableReader(remote, space));
            for (RemoteSpace each : spaces) {
                ServiceLine line = line(remote, each);
                lines.add(line);
                beats.add(new Beats(line, time, beats, new Collecting(line, table, space), eras, growing));
                register(line, process);
            }
            growing.learn();
            givenBack = new GivenBack(lines, space);
            // The map's time is known before anybody asks for it.
            beats.getFirst().beat(this::report);
        } catch (Throwable e) {
            Closing.after(e, resources);
            throw e;
        }
        thread.start();
    }

    private ServiceLine line(RemoteMemory remote, RemoteSpace each) {
        try {
            return resources.add(new ServiceLine(remote, each, lines.size()));
        } catch (ControlException e) {
            throw new MapException(
                    each.server() + " serves no calls, which a map needs to get memory: " + e.getMessage());
        }
    }

    private static void register(ServiceLine line, long process) {
        if (!line.with(1, process).call(MapCalls.REGISTER, 2)) {
            throw new MapException(line.space.server() + " has no service for maps that answers; run the same release "
                    + "there, with server threads");
        }
    }

    /** For a session that is being opened. */
    Mailbox mailbox(int learnedWords) {
        return new Mailbox(thread, eras, learnedWords);
    }

    /** From now on a session is served. */
    void serve(Mailbox mailbox, Consumer<HeldBlocks> holdings, LongSupplier oldestEra) {
        sessions.add(new Served(mailbox, holdings, oldestEra));
    }

    /**
     * A session is closed: what it held goes back.
     *
     * @param sure whether all of its requests have ended, and it is known how; else it keeps what it has until this
     *     process ends
     */
    void closed(Mailbox mailbox, BlockAllocator allocator, boolean sure) {
        if (!sure) {
            return;
        }
        tasks.add(() -> {
            HeldBlocks rest = new HeldBlocks();
            allocator.forEachFree(rest::add);
            mailbox.held(rest);
            givenBack.add(rest);
            givenBack.collect(mailbox);
            sessions.removeIf(session -> session.mailbox == mailbox);
        });
    }

    boolean isClosed() {
        return closed;
    }

    private void run() {
        while (!closed) {
            try {
                if (!work()) {
                    lines.getFirst().await(rest());
                }
            } catch (RuntimeException e) {
                if (!closed) {
                    LOG.log(System.Logger.Level.WARNING, "a map's keeper goes on after an error", e);
                    LockSupport.parkNanos(REST_NANOS);
                }
            }
        }
    }

    /** @return whether there may be more to do at once */
    private boolean work() {
        boolean busy = tasks.run();
        for (Served session : sessions) {
            givenBack.collect(session.mailbox);
        }
        busy |= givenBack.give();
        waiting = false;
        for (Served session : sessions) {
            busy |= fetch(session.mailbox) | learn(session.mailbox);
        }
        boolean hope = false;
        for (Beats each : beats) {
            hope |= each.beatIfDue(this::report);
            busy |= each.collect();
        }
        if (growing.goOn()) {
            beats.forEach(Beats::hurry);
        }
        if (hope) {
            sessions.forEach(session -> session.mailbox.hope());
        }
        return busy;
    }

    private long oldestEra() {
        long oldest = Long.MAX_VALUE;
        for (Served session : sessions) {
            oldest = Math.min(oldest, session.oldestEra.getAsLong());
        }
        return oldest;
    }

    private long rest() {
        long now = System.nanoTime();
        long nanos = waiting || growing.underWay() ? SOON_NANOS : REST_NANOS;
        for (Beats each : beats) {
            nanos = Math.min(nanos, each.next() - now);
        }
        return Math.max(1, nanos);
    }

    private boolean fetch(Mailbox mailbox) {
        int sizeClass = mailbox.asked();
        if (sizeClass < 0) {
            return false;
        }
        boolean later = false;
        for (int tried = 0; tried < lines.size(); tried++) {
            ServiceLine line = lines.get(nextLine);
            nextLine = (nextLine + 1) % lines.size();
            if (!line.unanswered()
                    && line.changing(2, sizeClass)
                            .changing(3, blocksAtOnce(sizeClass))
                            .changing(4, mailbox.largestAsked())
                            .change(MapCalls.TAKE, 5)) {
                if (line.reply(1) == MapCalls.SEGMENT || line.reply(1) == MapCalls.BLOCKS) {
                    mailbox.answer(line);
                    return true;
                }
                later |= line.reply(1) == MapCalls.LATER;
            }
        }
        if (later && mailbox.mayWait()) {
            waiting = true;
            // The servers are to know soon that no request in flight is as old.
            beats.forEach(Beats::hurry);
            return false;
        }
        mailbox.answerNothing();
        return true;
    }

    private int blocksAtOnce(int sizeClass) {
        int bytes = SizeClasses.units(sizeClass) * BlockFormat.UNIT_BYTES;
        return Math.clamp(space.shape().segmentBytes() / bytes, 1, MapCalls.MOST_TAKEN);
    }

    private boolean learn(Mailbox mailbox) {
        if (!mailbox.asksToLearn()) {
            return false;
        }
        ServiceLine line = lines.getFirst();
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

    /** Says what this process holds of a server's blocks; see {@link io.farheap.kv.service.MapCalls#HOLD}. */
    private void report(ServiceLine line, long round, long phase) {
        if (line.unanswered()) {
            return;
        }
        held.clear();
        addHeld();
        try {
            if (!addPieces()) {
                // Of an object that was taken to pieces in between: these are free now, or used again.
                addHeld();
            }
        } catch (MapException e) {
            // A server is lost, so not all can be said; the service asks again.
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
        for (Served session : sessions) {
            session.held.accept(held);
        }
        givenBack.held(held);
    }

    /**
     * Adds the pieces of all objects that were found.
     *
     * @return false where some are not in pieces as they were found
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

    private static boolean send(ServiceLine line, long round, long phase, boolean last, int n) {
        line.with(1, round).with(2, phase).with(3, last ? 1 : 0).with(4, n);
        return line.call(MapCalls.HOLD, 5 + n);
    }

    /**
     * Adds memory to the map.
     *
     * @param regions on each server
     */
    void grow(int regions) {
        synchronized (moreMemory) {
            moreMemory.add(space, regions);
        }
    }

    /** Whether all servers hand blocks out of all of their regions; asks them soon. The keeper's thread. */
    private boolean handsOut(Layout layout) {
        beats.forEach(Beats::hurry);
        for (int server = 0; server < beats.size(); server++) {
            if (beats.get(server).regions() < layout.regionsOf(server)) {
                return false;
            }
        }
        return true;
    }

    /** Segments that all servers have handed out. */
    long segmentsTaken() {
        long sum = 0;
        for (ServiceLine line : lines) {
            sum += tasks.ask(line, () -> line.call(MapCalls.STATE, 1) ? Optional.of(line.reply(1)) : Optional.empty());
        }
        return sum;
    }

    /** What all sessions have learned: an expert's weight each. */
    double[] weights() {
        ServiceLine line = lines.getFirst();
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

    /** Has every server account for its blocks. */
    MapAudit audit() {
        List<Long> tickets = new ArrayList<>();
        for (ServiceLine line : lines) {
            tickets.add(tasks.ask(
                    line,
                    () -> line.with(1, 0).call(MapCalls.AUDIT, 2) ? Optional.of(line.reply(1)) : Optional.empty()));
        }
        MapAudit all = MapAudit.NONE;
        for (ServiceLine line : lines) {
            long ticket = tickets.get(line.number);
            all = all.plus(tasks.ask(
                    line,
                    () -> line.with(1, ticket).call(MapCalls.AUDIT, 2) && line.reply(1) != 0
                            ? Optional.of(MapAudit.of(line))
                            : Optional.empty()));
        }
        return all;
    }

    /** Ends without giving anything back: the map is no more. */
    void drop() {
        dropped = true;
        close();
    }

    /** Gives back what sessions had that are closed, if the servers answer soon. Idempotent. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        tasks.close();
        try {
            thread.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            // It still uses what is to be closed; that goes with the map's memory.
            return;
        }
        try {
            if (!dropped) {
                leave();
            }
        } finally {
            resources.close();
        }
    }

    private void leave() {
        tasks.run();
        sessions.forEach(session -> givenBack.collect(session.mailbox));
        while (givenBack.give()) {
            // Until there is nothing more, or no answer.
        }
        for (ServiceLine line : lines) {
            if (sessions.isEmpty() && givenBack.isEmpty(line.number) && !line.unanswered()) {
                line.call(MapCalls.LEAVE, 1);
            }
        }
    }
}
