package io.farheap.kv.service;

import io.farheap.kv.format.BlockAudit;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.format.TextWords;
import io.farheap.kv.replacement.Replacements;
import io.farheap.kv.replacement.SharedWeights;
import io.farheap.server.contract.ServedSpace;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The state that a server keeps for one map: its free blocks, the processes that use it, a sweep that may be under way
 * and, on the map's first server, the weights of the experts that the sessions have learned together. Thread-safe; each
 * call is short.
 */
final class MapState {

    /** A collector that is silent for this long is replaced. */
    private static final long COLLECTOR_NANOS = 2_000_000_000L;

    /** The same for the process that empties segments. */
    private static final long EMPTIER_NANOS = 2_000_000_000L;

    private static final long AWAITED_NANOS = 2_000_000_000L;
    private static final long MILLION = 1_000_000;

    private final MapDescriptor map;
    private final BlockStore blocks;
    private final MapMembers members;
    private final LostBlockSweep sweep;
    private final SharedWeights controller;
    private final long[] learned;
    private final LongSupplier nanoTime;
    private long zeroNanos;

    /** Whether blocks that a process has let go, or that one which has ended had, are still to be found. */
    private boolean dirty;
    /**
     * A collection passes over the table of servers that are gone, once all requests in flight began after this epoch:
     * an older one may have read an index there, and store its pieces elsewhere.
     */
    private long goneEpoch;
    /** Whether a client has asked for an account of all blocks. */
    private boolean audit;

    /** Until this time a client waits for segments that requests in flight may still know of. */
    private long awaitedUntil;

    /** Which servers have the table, and the regions that the map has grown by. */
    private final TableEdition edition;
    /** How many of the growths all processes have added. On the first server only. */
    private long growthsOfAll;
    /** The addresses of servers that have joined, by their numbers. */
    private final Map<Integer, byte[]> addresses = new HashMap<>();
    /** The lease of the process that adds memory, or takes a server out; 0 if there is none. */
    private long grower;
    /** The lease of the process that takes this server out; 0 if there is none. */
    private long drainer;

    private long collector;
    private long collectorDeadline;
    /** The lease of the process that empties segments; 0 if there is none. */
    private long emptier;

    private long emptierDeadline;
    private BlockAudit account = BlockAudit.NONE;
    private long accountedRound;
    private final long[] twice = new long[MapCalls.MOST_TWICE];
    private int twiceCount;

    /** @param wallMillis since 1970, now */
    MapState(MapDescriptor map, LongSupplier nanoTime, long wallMillis) {
        this.map = map;
        this.nanoTime = nanoTime;
        awaitedUntil = nanoTime.getAsLong();
        zeroNanos = nanoTime.getAsLong() - MILLION * Math.max(0, wallMillis - map.createdMillis());
        blocks = new BlockStore(map, nanoTime);
        members = new MapMembers(map.server(), map.servers());
        edition = new TableEdition(map, members);
        sweep = new LostBlockSweep(blocks, members);
        controller = Replacements.controller(map.policy());
        learned = new long[controller.words()];
    }

    private long clock() {
        return nanoTime.getAsLong() - zeroNanos;
    }

    /** A process of the edition that the map begins with. */
    long register(long lease, long process) {
        return register(lease, process, 0, 0);
    }

    /**
     * @param id of the edition in which the process opens the map
     * @param retired the servers that have left by it
     */
    synchronized long register(long lease, long process, long id, long retired) {
        if (members.find(lease) == null) {
            if (edition.isSealed()) {
                return MapCalls.BUSY;
            }
            if (map.joined() ? (members.retired() & ~retired) != 0 : id != edition.id()) {
                return MapCalls.STALE;
            }
            if ((retired & ~members.retired()) != 0) {
                if (!map.joined() || !edition.mayRetire(retired)) {
                    return MapCalls.WRONG;
                }
                retire(retired);
            }
            if ((members.gone() & ~members.retired()) != 0) {
                // It would find slots there that name blocks which are others by now.
                return MapCalls.PART_GONE;
            }
            // A process that does not know yet that the server leaves, or which segments are being emptied, has
            // acknowledged no epoch.
            MapMember member = members.add(lease, process);
            member.retired = members.retired();
            member.epoch = blocks.isLeaving() || blocks.emptying().any() ? 0 : blocks.epoch();
            member.heardAt = nanoTime.getAsLong();
        }
        return MapCalls.OK;
    }

    /** No process that is registered uses these servers any more, and others have their part of the table. */
    private void retire(long servers) {
        members.retire(servers);
        // A request in flight may have read an index there.
        goneEpoch = blocks.nextEpoch();
        dirty = true;
        sweep.abandon();
        grower = 0;
        emptier = 0;
    }

    synchronized void leave(long lease) {
        members.left(lease);
        stop(lease);
    }

    synchronized void ended(long lease) {
        stop(lease);
        if (members.end(lease, nanoTime.getAsLong())) {
            dirty = true;
            sweep.abandon();
        }
    }

    /**
     * @param words facts, questions, the epoch, growths, lost servers, joined servers, then facts and questions
     * @return words of the reply
     */
    synchronized int beat(long lease, long[] words, long[] reply) {
        MapMember member = members.find(lease);
        if (member == null) {
            return status(reply, MapCalls.NOT_REGISTERED);
        }
        int facts = count(words[0]);
        int questions = count(words[1]);
        member.heardAt = nanoTime.getAsLong();
        member.epoch = Math.max(member.epoch, Math.min(words[2], blocks.epoch()));
        member.lost = words[4];
        member.joined = words[5];
        member.beats = true;
        members.note(nanoTime.getAsLong());
        if (members.findGone(nanoTime.getAsLong())) {
            goneEpoch = blocks.nextEpoch();
        }
        if (blocks.waits()) {
            blocks.settle(members.oldestEpoch(blocks.epoch()));
        }
        long growths = edition.isFirst() ? edition.layout().growths() : 0;
        boolean knows = members.isOfEdition(member);
        member.growths = knows ? Math.max(member.growths, Math.min(words[3], growths)) : 0;
        growthsOfAll = Math.max(growthsOfAll, members.leastGrowths(growths));
        int at = MapCalls.BEAT_WORDS;
        for (int i = 0; i < facts; i++, at += 2) {
            members.endedAt(words[at], words[at + 1]);
        }
        long answers = 0;
        for (int i = 0; i < questions; i++) {
            answers |= members.lives(words[at + i]) ? 0 : 1L << i;
        }
        long flags = blocks.hasRoom() ? MapCalls.ROOM : 0;
        flags |= mayCollect(member) ? MapCalls.COLLECT : 0;
        boolean sweeps = members.reachesTable(member) && (sweep.running() || (dirty || audit) && !members.doubted());
        boolean awaited = blocks.waits() && nanoTime.getAsLong() - awaitedUntil < 0;
        boolean growing = growthsOfAll < growths;
        flags |= sweeps
                        || awaited
                        || growing
                        || blocks.isLeaving()
                        || blocks.emptying().any()
                ? MapCalls.SOON
                : 0;
        flags |= mayEmpty(member) ? MapCalls.EMPTIES : 0;
        flags |= blocks.isLeaving() ? MapCalls.LEAVING : 0;
        reply[0] = MapCalls.OK;
        reply[1] = clock();
        reply[2] = flags;
        reply[3] = sweep.round();
        reply[4] = sweep.wants(member) ? sweep.phase() : 0;
        reply[5] = members.doubted(reply, MapCalls.BEAT_REPLY_WORDS, MapCalls.MOST_PROCESSES);
        reply[6] = answers;
        reply[7] = blocks.epoch();
        // A process of an earlier edition learns of no growth any more: it would not know where the table is.
        reply[8] = knows ? growths : 0;
        reply[9] = knows ? growthsOfAll : 0;
        reply[10] = blocks.regions();
        int end = MapCalls.BEAT_REPLY_WORDS + (int) reply[5];
        reply[11] = blocks.emptying().places(reply, end);
        reply[12] = members.gone() & ~member.retired;
        return end + (int) reply[11];
    }

    /** Whether the caller must empty segments from now on. None is emptied while blocks are accounted for. */
    private boolean mayEmpty(MapMember member) {
        long now = nanoTime.getAsLong();
        if (!blocks.emptying().isDue()
                || !members.isOfEdition(member)
                || audit
                || sweep.running()
                || emptier != 0 && now - emptierDeadline < 0) {
            return false;
        }
        emptier = member.lease;
        emptierDeadline = now + EMPTIER_NANOS;
        return true;
    }

    /** @return words of the reply */
    synchronized int empty(long lease, long[] reply) {
        if (lease != emptier) {
            return status(reply, MapCalls.STALE);
        }
        emptierDeadline = nanoTime.getAsLong() + EMPTIER_NANOS;
        reply[0] = MapCalls.OK;
        reply[1] = audit || sweep.running() ? 0 : blocks.emptying().handOver(reply, 2);
        emptier = reply[1] == 0 ? 0 : emptier;
        return 2 + 2 * (int) reply[1];
    }

    private static int count(long n) {
        if (n < 0 || n > MapCalls.MOST_PROCESSES) {
            throw new IllegalArgumentException(n + " processes in a beat; it has 0 to " + MapCalls.MOST_PROCESSES);
        }
        return (int) n;
    }

    /** Whether the caller must drive the sweep from now on. */
    private boolean mayCollect(MapMember member) {
        long now = nanoTime.getAsLong();
        boolean needed = dirty || audit || sweep.running();
        if (!needed
                || members.doubted()
                || !members.reachesTable(member)
                || members.oldestEpoch(blocks.epoch()) < goneEpoch
                || sweep.running() && now - collectorDeadline < 0) {
            return false;
        }
        dirty = false;
        audit = false;
        collector = member.lease;
        collectorDeadline = now + COLLECTOR_NANOS;
        sweep.begin();
        return true;
    }

    /**
     * @param words the number, and what is wanted
     * @return words of the reply
     */
    synchronized int take(long lease, long[] words, ServedSpace space, long[] reply) {
        MapMember member = members.find(lease);
        if (member == null) {
            return status(reply, MapCalls.NOT_REGISTERED);
        }
        member.heardAt = nanoTime.getAsLong();
        if (member.lastNumber != words[0]) {
            TakeRequest wanted = TakeRequest.of(words, 1);
            if (wanted == null) {
                return status(reply, MapCalls.WRONG);
            }
            member.lastReply[0] = MapCalls.OK;
            member.lastReplyWords = blocks.take(wanted, space::region, member.lastReply);
            member.lastNumber = words[0];
            nothing(wanted.want(), member.lastReply);
        }
        return again(member, reply);
    }

    /** Fills in an answer without blocks: what the caller can expect. */
    private void nothing(int want, long[] taken) {
        boolean later = taken[1] == MapCalls.LATER;
        if (want == MapCalls.AGAIN && (later || taken[1] == MapCalls.NOTHING) && isStuck()) {
            taken[1] = MapCalls.STUCK;
        } else if (later) {
            awaitedUntil = nanoTime.getAsLong() + AWAITED_NANOS;
        }
    }

    private boolean isStuck() {
        return blocks.waits() && members.anySilent(nanoTime.getAsLong(), blocks.epoch());
    }

    private static int again(MapMember member, long[] reply) {
        System.arraycopy(member.lastReply, 0, reply, 0, member.lastReplyWords);
        return member.lastReplyWords;
    }

    /** @return words of the reply */
    synchronized int give(long lease, long number, long[] words, int n, long[] reply) {
        MapMember member = members.find(lease);
        if (member == null) {
            return status(reply, MapCalls.NOT_REGISTERED);
        }
        if (member.lastNumber != number) {
            int taken = 0;
            for (int i = 0; i < n; i++) {
                taken += blocks.give(words[i]) ? 1 : 0;
            }
            member.lastReply[0] = MapCalls.OK;
            member.lastReply[1] = taken;
            member.lastReplyWords = 2;
            member.lastNumber = number;
        }
        return again(member, reply);
    }

    synchronized long hold(long lease, long round, long phase, boolean last, long[] words, int n) {
        MapMember member = members.find(lease);
        if (member == null) {
            return MapCalls.NOT_REGISTERED;
        }
        if (!sweep.hold(member, round, phase, last)) {
            return MapCalls.STALE;
        }
        for (int i = 0; i < n; i++) {
            sweep.seen(words[i]);
        }
        return MapCalls.OK;
    }

    synchronized long named(long lease, long round, long phase, boolean last, long[] words, int n) {
        if (lease != collector || !sweep.scanning(round, phase)) {
            return MapCalls.STALE;
        }
        collectorDeadline = nanoTime.getAsLong() + COLLECTOR_NANOS;
        for (int i = 0; i < n; i++) {
            sweep.seen(words[i]);
        }
        if (last) {
            sweep.scanned();
        }
        return MapCalls.OK;
    }

    /** @return words of the reply */
    synchronized int step(long lease, long round, ServedSpace space, long[] reply) {
        if (lease != collector || round != sweep.round() || !sweep.running()) {
            return status(reply, MapCalls.STALE);
        }
        collectorDeadline = nanoTime.getAsLong() + COLLECTOR_NANOS;
        long what = sweep.step(space::region);
        if (what == MapCalls.DONE) {
            account = sweep.account(blocks.pooled(), blocks.worn());
            accountedRound = round;
            twiceCount = sweep.twice(twice, 0);
            dirty |= sweep.more();
        }
        reply[0] = MapCalls.OK;
        reply[1] = what;
        reply[2] = sweep.phase();
        return 3;
    }

    /** A process has let blocks go. A sweep that is under way may have seen them as held, so one more follows. */
    synchronized long sweep(long lease) {
        if (members.find(lease) == null) {
            return MapCalls.NOT_REGISTERED;
        }
        dirty = true;
        return MapCalls.OK;
    }

    /** @return words of the reply */
    synchronized int audit(long ticket, long[] reply) {
        reply[0] = MapCalls.OK;
        if (ticket == 0) {
            audit = true;
            // A sweep that is under way may have seen blocks in earlier places.
            reply[1] = sweep.round() + 1;
            return 2;
        }
        if (accountedRound < ticket) {
            audit |= !sweep.running();
            reply[1] = 0;
            return 2;
        }
        reply[1] = 1;
        put(account, reply, 2);
        reply[2 + BlockAudit.WORDS] = twiceCount;
        System.arraycopy(twice, 0, reply, 3 + BlockAudit.WORDS, twiceCount);
        return 3 + BlockAudit.WORDS + twiceCount;
    }

    /** Writes the words that {@link BlockAudit#of} reads. */
    private static void put(BlockAudit account, long[] into, int at) {
        into[at] = account.blocks();
        into[at + 1] = account.pooled();
        into[at + 2] = account.worn();
        into[at + 3] = account.held();
        into[at + 4] = account.named();
        into[at + 5] = account.lost();
        into[at + 6] = account.wrong();
    }

    synchronized long growing(long lease, boolean begins) {
        if (!edition.isFirst()) {
            return MapCalls.WRONG;
        }
        MapMember member = members.find(lease);
        if (member == null) {
            return MapCalls.NOT_REGISTERED;
        }
        if (begins && !members.isOfEdition(member)) {
            return MapCalls.STALE;
        }
        if (!begins) {
            stop(lease);
            return MapCalls.OK;
        }
        if (grower != 0 && grower != lease) {
            return MapCalls.BUSY;
        }
        grower = lease;
        return MapCalls.OK;
    }

    private void stop(long lease) {
        grower = grower == lease ? 0 : grower;
        emptier = emptier == lease ? 0 : emptier;
        edition.unseal(lease);
        if (drainer == lease) {
            drainer = 0;
            blocks.leave(MapCalls.STAYS);
        }
    }

    /**
     * @param address of a server that joins
     * @param regionsHere of the space on this server
     */
    synchronized long grown(long lease, int server, int first, int count, byte[] address, int regionsHere) {
        RegionDirectory.Growth growth = new RegionDirectory.Growth(server, first, count);
        boolean known = edition.layout().has(growth);
        boolean joins = !known && server == edition.layout().servers();
        if (!edition.isFirst()
                || server == map.server() && (long) first + count > regionsHere
                || joins != (!known && address.length > 0)) {
            return MapCalls.WRONG;
        }
        if (lease != grower) {
            return MapCalls.STALE;
        }
        if (!known) {
            try {
                edition.grow(growth);
            } catch (IllegalArgumentException e) {
                return MapCalls.WRONG;
            }
            if (joins) {
                joins(server, address);
            }
        }
        return MapCalls.OK;
    }

    private void joins(int server, byte[] address) {
        if (!Arrays.equals(address, addresses.put(server, address))) {
            members.joins(server, nanoTime.getAsLong());
        }
    }

    /** @return words of the reply */
    synchronized int away(int server, long[] reply) {
        RegionDirectory layout = edition.layout();
        if (!edition.isFirst() || server < layout.madeOn() || server >= layout.servers()) {
            return status(reply, MapCalls.WRONG);
        }
        long nanos = MILLION * map.replaceMillis();
        reply[0] = MapCalls.OK;
        reply[1] = layout.hasLeft(server) || nanos > 0 && members.isUnused(server, nanos, nanoTime.getAsLong()) ? 1 : 0;
        return 2;
    }

    /** @return words of the reply */
    synchronized int address(int server, long[] reply) {
        byte[] address = addresses.get(server);
        if (address == null) {
            return status(reply, MapCalls.WRONG);
        }
        reply[0] = MapCalls.OK;
        reply[1] = address.length;
        return 2 + TextWords.words(address, reply, 2);
    }

    /** @return words of the reply */
    synchronized int drain(long lease, long what, long[] reply) {
        if (!map.joined() || what < MapCalls.STAYS || what > MapCalls.HAS_LEFT) {
            return status(reply, MapCalls.WRONG);
        }
        if (members.find(lease) == null) {
            return status(reply, MapCalls.NOT_REGISTERED);
        }
        if (drainer != 0 && drainer != lease) {
            return status(reply, MapCalls.BUSY);
        }
        drainer = what == MapCalls.STAYS ? 0 : lease;
        blocks.leave(what);
        reply[0] = MapCalls.OK;
        reply[1] = blocks.hasLeft(members.oldestEpoch(blocks.epoch())) ? 1 : 0;
        return 2;
    }

    /** @return words of the reply */
    synchronized int layout(int from, long[] reply) {
        RegionDirectory layout = edition.layout();
        int n = Math.clamp(layout.growths() - from, 0, MapCalls.MOST_GROWTHS);
        if (map.joined() || from < 0) {
            return status(reply, MapCalls.WRONG);
        }
        reply[0] = MapCalls.OK;
        reply[1] = layout.growths();
        reply[2] = n;
        for (int i = 0; i < n; i++) {
            RegionDirectory.Growth growth = layout.growth(from + i);
            reply[3 + 4 * i] = growth.server();
            reply[4 + 4 * i] = growth.first();
            reply[5 + 4 * i] = growth.count();
            reply[6 + 4 * i] = growth.part();
        }
        return 3 + 4 * n;
    }

    /** @return words of the reply */
    synchronized int edition(long[] reply) {
        return map.joined() ? status(reply, MapCalls.WRONG) : edition.say(reply);
    }

    /** @return words of the reply */
    synchronized int seal(long lease, long lost, boolean atOnce, ServedSpace space, long[] reply) {
        return edition.seal(lease, lost, atOnce, nanoTime.getAsLong(), space, reply);
    }

    /**
     * @param growth with this number; -1: none
     * @param address of the server that joins by it; empty if none does
     * @return words of the reply
     */
    synchronized int copy(
            long lease,
            long time,
            long history,
            int number,
            RegionDirectory.Growth growth,
            byte[] address,
            ServedSpace space,
            long[] reply) {
        MapMember member = members.find(lease);
        if (map.joined()) {
            return status(reply, MapCalls.WRONG);
        }
        if (!edition.isSealedBy(lease) && (member == null || !members.isOfEdition(member))) {
            return status(reply, MapCalls.NOT_REGISTERED);
        }
        edition.told(time, history, nanoTime.getAsLong());
        if (number >= 0 && !edition.isFirst()) {
            if (!edition.copy(number, growth, edition.isSealedBy(lease))) {
                return status(reply, MapCalls.WRONG);
            }
            if (address.length > 0) {
                joins(growth.server(), address);
            }
        }
        reply[0] = MapCalls.OK;
        reply[1] = edition.layout().growths();
        reply[2] = edition.history(space);
        return 3;
    }

    /**
     * @param words as of {@link MapCalls#INSTALL}, from the number on
     * @param n how many there are
     */
    synchronized long install(long lease, long[] words, int n, ServedSpace space) {
        int before = words[2] < 0 || words[2] > edition.layout().growths() ? -1 : (int) words[2];
        int growths = words[6] < 0 || words[6] > (n - 7) / 4 ? -1 : (int) words[6];
        if (map.joined() || before < 0 || growths < 0) {
            return MapCalls.WRONG;
        }
        RegionDirectory next;
        try {
            next = edition.layout().first(before);
            for (int at = 7; at < 7 + 4 * growths; at += 4) {
                next = next.with(new RegionDirectory.Growth(
                        small(words[at]), small(words[at + 1]), small(words[at + 2]), small(words[at + 3])));
            }
        } catch (IllegalArgumentException e) {
            return MapCalls.WRONG;
        }
        if (!edition.install(lease, words[0], words[1], before, next, space)) {
            return MapCalls.STALE;
        }
        if (edition.isFirst()) {
            edition.count(words[3], words[4], space);
        }
        zeroNanos -= Math.max(0, words[5] - clock());
        growthsOfAll = Math.min(growthsOfAll, before);
        retire(next.retired());
        return MapCalls.OK;
    }

    private static int small(long word) {
        return Math.clamp(word, -1, Integer.MAX_VALUE);
    }

    /** @param regionsHere of the space on this server */
    synchronized long offer(long lease, int number, int first, int count, int regionsHere) {
        if (members.find(lease) == null) {
            return MapCalls.NOT_REGISTERED;
        }
        RegionDirectory layout = edition.layout();
        boolean table = layout.hadTable(number);
        for (int i = 1; i < count && number < layout.regions(); i++) {
            if (layout.hadTable(number + i) != table) {
                return MapCalls.WRONG;
            }
        }
        return blocks.offer(number, first, count, regionsHere, table) ? MapCalls.OK : MapCalls.WRONG;
    }

    /** @return words of the reply */
    synchronized int learn(long[] words, int n, long[] reply) {
        if (!edition.isFirst() || n != learned.length) {
            return status(reply, MapCalls.WRONG);
        }
        System.arraycopy(words, 0, learned, 0, n);
        try {
            controller.answer(learned);
        } catch (IllegalArgumentException e) {
            return status(reply, MapCalls.WRONG);
        }
        reply[0] = MapCalls.OK;
        System.arraycopy(learned, 0, reply, 1, n);
        return 1 + n;
    }

    /** @return words of the reply */
    synchronized int state(long[] reply) {
        int experts = Replacements.expertNames(map.policy()).size();
        reply[0] = MapCalls.OK;
        reply[1] = blocks.segmentsHandedOut();
        reply[2] = experts;
        for (int expert = 0; expert < experts; expert++) {
            reply[3 + expert] = Double.doubleToRawLongBits(controller.weight(expert));
        }
        reply[3 + experts] = blocks.emptying().emptied();
        reply[4 + experts] = blocks.emptying().count();
        return 5 + experts;
    }

    private static int status(long[] reply, long status) {
        reply[0] = status;
        return 1;
    }
}
