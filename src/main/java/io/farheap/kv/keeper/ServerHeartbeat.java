package io.farheap.kv.keeper;

import io.farheap.kv.blocks.RequestEpochs;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.space.SpaceMemory;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A process's beats to one server. A beat shows that the process lives. The reply has the map's clock, whether the
 * server has room, and what it wants of this process for a collection. A server on which a process has ended must learn
 * whether it has ended on the other servers too; the beats of all processes carry such questions and the answers. The
 * keeper's thread.
 */
final class ServerHeartbeat {

    private static final long BEAT_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** For the first server, which has the number of growths in its replies, and for servers that can leave. */
    private static final long OFTEN_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    /** While servers have questions about processes that ended. */
    private static final long ASKED_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** The time between two collections for blocks that this process has let go: each reads the whole table. */
    private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Reports the blocks of a server that this process holds. */
    interface Report {
        void of(MapServiceClient line, long round, long phase);
    }

    private static final byte[] NO_ADDRESS = {};

    private record Fact(long process, int server) {}

    private final MapServiceClient line;
    private final SynchronizedMapClock time;
    private final List<ServerHeartbeat> all;
    private final SpaceMemory space;
    private final BlockCollector collecting;
    /** Processes that have ended on this server, which wants to know whether they have ended on the others. */
    private final List<Long> wanted = new ArrayList<>();

    private final Set<Fact> facts = new LinkedHashSet<>();
    private final long[] questions = new long[MapCalls.MOST_PROCESSES];
    private final RequestEpochs eras;
    private final GrowthTracker growing;
    private final Consumer<MapServiceClient> emptier;
    /** How many regions the server hands blocks out of. */
    private long regions;
    /**
     * The service's epoch in a reply, the era that began then, and the epoch that beats confirm. The epoch is confirmed
     * once all requests in flight are of that era or later.
     */
    private long toldEpoch;

    private long toldEra;
    private long epoch;
    private long next = System.nanoTime();
    /** Whether the server is about to leave the map, by its last reply. */
    private boolean leaving;

    private boolean heard;
    /** Whether this process has let blocks go that the server has not been told of, and when it may be told. */
    private boolean owesSweep;

    private long nextSweep = System.nanoTime();
    /** How many growths the server has copies of, and the history number that the first server has said last. */
    private int copies;

    private long history;
    private final CopiedGrowths confirming = new CopiedGrowths();
    private long nextCopy = System.nanoTime();

    /**
     * @param all beats to all servers that the process uses, this one among them
     * @param emptier is called if the server has chosen this process to empty segments
     */
    ServerHeartbeat(
            MapServiceClient line,
            List<ServerHeartbeat> all,
            SpaceMemory space,
            SynchronizedMapClock time,
            BlockCollector collecting,
            RequestEpochs eras,
            GrowthTracker growing,
            Consumer<MapServiceClient> emptier) {
        this.emptier = emptier;
        this.growing = growing;
        this.eras = eras;
        this.line = line;
        this.time = time;
        this.all = all;
        this.space = space;
        this.collecting = collecting;
    }

    /** Whether the server has answered at least once. */
    boolean heard() {
        return heard;
    }

    /** @return whether the server has room */
    boolean beatIfDue(Report report) {
        return System.nanoTime() - next >= 0 && beat(report);
    }

    /** @return whether the server has room */
    boolean beat(Report report) {
        boolean often = isFirst() || line.number >= space.layout().madeOn();
        next = System.nanoTime() + (often ? OFTEN_NANOS : BEAT_NANOS);
        askForSweep();
        int asked = write();
        long asking = System.nanoTime();
        long sent = time.local();
        if (!line.call(MapCalls.BEAT, 1 + MapCalls.BEAT_WORDS + 2 * (int) factCount() + asked)) {
            return false;
        }
        heard = true;
        if (isFirst()) {
            time.answered(sent, line.reply(1), time.local());
        }
        facts.clear();
        long flags = line.reply(2);
        long round = line.reply(3);
        long phase = line.reply(4);
        if (leaving != ((flags & MapCalls.LEAVING) != 0)) {
            leaving = !leaving;
            // Before the next era begins: requests of that era must know this.
            space.leaves(line.number, leaving);
        }
        learnEmptying();
        if (toldEra == 0 && line.reply(7) > epoch) {
            toldEpoch = line.reply(7);
            toldEra = eras.begin();
        }
        long growths = line.reply(8);
        long growthsOfAll = line.reply(9);
        regions = line.reply(10);
        space.gone(line.reply(12));
        boolean empties = (flags & MapCalls.EMPTIES) != 0;
        wanted.clear();
        for (int i = 0; i < line.reply(5); i++) {
            wanted.add(line.reply(MapCalls.BEAT_REPLY_WORDS + i));
        }
        for (int i = 0; i < asked; i++) {
            if ((line.reply(6) >>> i & 1) != 0) {
                tell(questions[i]);
            }
        }
        if ((flags & MapCalls.SOON) != 0) {
            next = System.nanoTime() + SOON_NANOS;
        }
        if (!wanted.isEmpty() || !facts.isEmpty()) {
            all.forEach(each -> each.hurry(ASKED_NANOS));
        }
        if ((flags & MapCalls.COLLECT) != 0) {
            collecting.begin(round, line.reply(12));
        }
        if (phase != 0) {
            report.of(line, round, phase);
        }
        if (empties) {
            emptier.accept(line);
        }
        copy();
        learnGrowth(growths, growthsOfAll);
        if (isFirst() && growths == space.layout().growths()) {
            space.knewAllAt(asking);
        }
        return (flags & MapCalls.ROOM) != 0;
    }

    private boolean isFirst() {
        return isFirst(line.number);
    }

    private boolean isFirst(int server) {
        return space.layout().serverOfTable(0) == server;
    }

    /** Whether the server keeps copies of what the first has, which may be lost. */
    private boolean keepsCopies() {
        return space.replaces() && line.number < space.layout().madeOn() && !isFirst();
    }

    /** Has the server keep what the first one has, in case that is lost; or asks the first one. */
    private void copy() {
        long now = System.nanoTime();
        if (!space.replaces()
                || now - nextCopy < 0 && (isFirst() || copies >= space.layout().growths())) {
            return;
        }
        nextCopy = now + BEAT_NANOS;
        if (isFirst() && TableReplacer.copy(line, 0, 0, -1, null, NO_ADDRESS)) {
            history = line.reply(2);
        }
        if (!keepsCopies()) {
            return;
        }
        long counted = 0;
        for (ServerHeartbeat each : all) {
            counted = Math.max(counted, each.history);
        }
        RegionDirectory layout = space.layout();
        int had = copies;
        boolean more;
        do {
            RegionDirectory.Growth growth = copies < layout.growths() ? layout.growth(copies) : null;
            byte[] address = growth == null ? NO_ADDRESS : growing.addressFor(layout, copies);
            int number = copies;
            more = TableReplacer.copy(line, time.beats() > 0 ? time.ticks() : 0, counted, number, growth, address);
            copies = more ? (int) line.reply(1) : copies;
            more &= growth != null && copies > number && copies < layout.growths();
        } while (more);
        if (copies > had) {
            all.forEach(ServerHeartbeat::hurry);
        }
    }

    /** How many growths this process confirms. */
    private int confirmed() {
        int known = growing.growths();
        if (!space.replaces()) {
            return known;
        }
        RegionDirectory layout = space.layout();
        confirming.begin(layout.madeOn() - Long.bitCount(layout.retired()), known);
        for (ServerHeartbeat each : all) {
            if (each.keepsCopies() && !each.line.lost()) {
                confirming.has(each.copies);
            }
        }
        return confirming.confirmed();
    }

    /** This process has let blocks go that the server must find. */
    void owesSweep() {
        owesSweep = true;
        hurry();
    }

    /** Whether this process has let blocks go that the server has not been told of. */
    boolean mustAskForSweep() {
        return owesSweep;
    }

    private void askForSweep() {
        if (owesSweep && System.nanoTime() - nextSweep >= 0 && line.call(MapCalls.SWEEP, 1)) {
            owesSweep = false;
            nextSweep = System.nanoTime() + SWEEP_NANOS;
        }
    }

    /** Learns which segments are being emptied; before the next era begins, too. */
    private void learnEmptying() {
        long[] places = new long[(int) line.reply(11)];
        for (int i = 0; i < places.length; i++) {
            places[i] = line.reply(MapCalls.BEAT_REPLY_WORDS + (int) line.reply(5) + i);
        }
        space.empties(line.number, places);
    }

    private void learnGrowth(long growths, long ofAll) {
        if (isFirst() && growing.told(growths, ofAll)) {
            all.forEach(ServerHeartbeat::hurry);
        }
        if (growing.offer(line, regions)) {
            // Its next reply will say that it has room.
            hurry();
        }
    }

    /** The server's number among the map's servers. */
    int server() {
        return line.number;
    }

    /** How many regions the server hands blocks out of, by its last reply. */
    long regions() {
        return regions;
    }

    private long factCount() {
        return Math.min(facts.size(), MapCalls.MOST_PROCESSES);
    }

    /** Writes the arguments of a beat. @return how many questions it has */
    private int write() {
        if (toldEra != 0 && eras.oldest() >= toldEra) {
            epoch = toldEpoch;
            toldEra = 0;
        }
        int at = 1 + MapCalls.BEAT_WORDS;
        int written = 0;
        for (Fact fact : facts) {
            if (written++ == MapCalls.MOST_PROCESSES) {
                break;
            }
            line.with(at++, fact.process);
            line.with(at++, fact.server);
        }
        Set<Long> distinct = new LinkedHashSet<>();
        for (ServerHeartbeat other : all) {
            if (other != this) {
                distinct.addAll(other.wanted);
            }
        }
        int asked = 0;
        for (long process : distinct) {
            if (asked < questions.length) {
                questions[asked++] = process;
                line.with(at++, process);
            }
        }
        line.with(1, factCount())
                .with(2, asked)
                .with(3, epoch)
                .with(4, confirmed())
                .with(5, lost())
                .with(6, joined());
        return asked;
    }

    /**
     * The first servers that the map was made on, a bit for each, set if this process has lost its lease there and its
     * sessions post nothing to that server any more: others may replace it then.
     */
    private long lost() {
        long bits = 0;
        for (ServerHeartbeat each : all) {
            if (each.line.isAbandoned()
                    && each.line.number < Math.min(space.layout().madeOn(), Long.SIZE)) {
                bits |= 1L << each.line.number;
            }
        }
        return bits;
    }

    /** The servers that have joined and on which this process has a lease, by the remainders of their numbers by 64. */
    private long joined() {
        long bits = 0;
        for (ServerHeartbeat each : all) {
            if (each.line.number >= space.layout().madeOn() && !each.line.lost()) {
                bits |= 1L << each.line.number;
            }
        }
        return bits;
    }

    /** Notes for the other servers that a process does not have the space open on this one. */
    private void tell(long process) {
        for (ServerHeartbeat other : all) {
            if (other != this && other.wanted.contains(process)) {
                other.facts.add(new Fact(process, line.number));
            }
        }
    }

    /** Makes the next beat come soon. */
    void hurry() {
        hurry(SOON_NANOS);
    }

    private void hurry(long nanos) {
        next = Math.min(next, System.nanoTime() + nanos);
    }

    /** The {@link System#nanoTime} at which there is something to do. */
    long next() {
        return collecting.isActive() ? Math.min(next, collecting.next()) : next;
    }

    boolean collect() {
        return collecting.goOn();
    }
}
