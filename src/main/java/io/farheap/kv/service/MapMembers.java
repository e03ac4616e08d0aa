package io.farheap.kv.service;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The processes that use a map through one server. A process that has ended here may continue through another server,
 * and then change a slot there that names a block of this one. So it counts as dead only when this server and all
 * servers that have slots have ended its opening, which clients' keepers find out, or are gone. One thread at a time.
 */
final class MapMembers {

    /**
     * A server that all living processes have lost for this long is gone for good. Long, as the map cannot be opened
     * any more then.
     */
    private static final long GONE_NANOS = 300_000_000_000L;

    /** A process sends a heartbeat each second; it is silent after this time without one. */
    private static final long SILENT_NANOS = 2_000_000_000L;
    /** The limit of ended processes about which the other servers are asked. */
    static final int MOST_ENDED = 4096;

    /** @param at when its opening here ended, or that of a process which ended later */
    private record EndedMember(long process, BitSet servers, long at) {}

    private final int server;
    /** How many servers have a part of the table. */
    private final int servers;
    /** How many servers must have ended a process's opening before it counts as dead. */
    private final int needed;

    private final Map<Long, MapMember> living = new HashMap<>();
    private final List<EndedMember> ended = new ArrayList<>();
    /**
     * Processes that ended while there were {@link #MOST_ENDED} others, the first one first. None is forgotten: blocks
     * would be collected while it continues elsewhere. A process follows into {@code ended} when there is room.
     */
    private final LongFifo later = new LongFifo();
    /** When an opening here ended last. */
    private long endedLast;
    /** The servers that all living processes have lost, and since when they are these; a bit for each server. */
    private long lost;

    private long lostSince;
    /** The servers that are gone. No process reads or changes their part of the table again, whatever it names. */
    private long gone;
    /** Those of them that have left the map, so that other servers have their part of the table. */
    private long retired;
    /** By server, for each of the first 64: since when all living processes have lost it. */
    private final long[] lostByAllSince = new long[Long.SIZE];

    private long lostByAll;
    /** By the remainder of a joined server's number by 64: since when no living process has a lease there. */
    private final long[] unusedSince = new long[Long.SIZE];
    /** The remainders of the joined servers that some process uses; all while no process has said what it uses. */
    private long used = -1;

    /**
     * @param server number of this one
     * @param servers that have a part of the table
     */
    MapMembers(int server, int servers) {
        this.server = server;
        this.servers = servers;
        needed = server < servers ? servers : servers + 1;
    }

    MapMember add(long lease, long process) {
        return living.computeIfAbsent(lease, id -> new MapMember(id, process));
    }

    @Nullable
    MapMember find(long lease) {
        return living.get(lease);
    }

    /** The epoch at which the oldest of all requests in flight may have begun. */
    long oldestEpoch(long now) {
        // A process that has ended here may continue elsewhere.
        long oldest = ended.isEmpty() ? now : 0;
        for (MapMember member : living.values()) {
            oldest = Math.min(oldest, member.epoch);
        }
        return oldest;
    }

    /**
     * Whether a silent process keeps the others from reaching an epoch, or an ended one may continue elsewhere and for
     * long no server has reported its end, as that server is lost.
     */
    boolean anySilent(long now, long epoch) {
        for (EndedMember each : ended) {
            if (now - each.at > SILENT_NANOS) {
                return true;
            }
        }
        for (MapMember member : living.values()) {
            if (member.epoch < epoch && now - member.heardAt > SILENT_NANOS) {
                return true;
            }
        }
        return false;
    }

    /** How many of the map's growths every process has added; {@code most} if there is no process. */
    long leastGrowths(long most) {
        return living.values().stream()
                .mapToLong(member -> isOfEdition(member) ? member.growths : 0)
                .min()
                .orElse(most);
    }

    Collection<MapMember> living() {
        return living.values();
    }

    boolean lives(long process) {
        return living.values().stream().anyMatch(member -> member.process == process);
    }

    /** A process leaves: it has given all blocks back, and its operations have ended. */
    void left(long lease) {
        living.remove(lease);
    }

    /** @return whether it had registered */
    boolean end(long lease, long now) {
        MapMember member = living.remove(lease);
        if (member != null && needed > 1) {
            endedLast = now;
            later.add(member.process);
            askAboutMore();
        }
        return member != null;
    }

    private void askAboutMore() {
        while (later.size() > 0 && ended.size() < MOST_ENDED) {
            BitSet known = new BitSet(needed);
            known.set(server);
            addGone(known);
            long process = later.remove();
            if (known.cardinality() < needed) {
                ended.add(new EndedMember(process, known, endedLast));
            }
        }
    }

    private void addGone(BitSet to) {
        for (int number = 0; number < Math.min(servers, Long.SIZE); number++) {
            if ((gone >>> number & 1) != 0) {
                to.set(number);
            }
        }
    }

    /**
     * Looks for servers that are gone: while a process that has ended here may continue through another server, all
     * living ones have long lost that server. A process that ended may still change the table there, but no other will
     * ever look.
     *
     * @return whether there are more than before
     */
    boolean findGone(long now) {
        long all = living.values().stream().mapToLong(member -> member.lost).reduce(-1, (a, b) -> a & b);
        if (all != lost) {
            lost = all;
            lostSince = now;
        }
        if (living.isEmpty() || ended.isEmpty() || (lost & ~gone) == 0 || now - lostSince <= GONE_NANOS) {
            return false;
        }
        gone |= lost;
        ended.forEach(each -> addGone(each.servers));
        ended.removeIf(each -> each.servers.cardinality() == needed);
        askAboutMore();
        return true;
    }

    /** Whether a process can read all of the table that is not gone, as far as it has said. */
    boolean reachesTable(MapMember member) {
        return (member.lost & ~gone) == 0 && isOfEdition(member);
    }

    /** Whether a process knows where the table is; one that has opened the map before servers left it does not. */
    boolean isOfEdition(MapMember member) {
        return member.retired == retired;
    }

    /** Servers have left the map, after all processes here have lost them. */
    void retire(long servers) {
        retired |= servers;
        gone |= servers;
        ended.forEach(each -> addGone(each.servers));
        ended.removeIf(each -> each.servers.cardinality() == needed);
        askAboutMore();
    }

    /** The servers that the map was made on and that have left it, a bit for each of the first 64. */
    long retired() {
        return retired;
    }

    /** Notes which servers all living processes have lost, and which of those that have joined none uses. */
    void note(long now) {
        long all = living.values().stream()
                .mapToLong(member -> member.lost | member.retired)
                .reduce(-1, (a, b) -> a & b);
        for (int number = 0; number < Long.SIZE && all != lostByAll; number++) {
            if (((all & ~lostByAll) >>> number & 1) != 0) {
                lostByAllSince[number] = now;
            }
        }
        lostByAll = all;
        long uses = 0;
        boolean any = false;
        for (MapMember member : living.values()) {
            uses |= member.joined;
            any |= member.beats;
        }
        // A process that only tries to open the map says nothing of a server.
        uses = any ? uses : -1;
        for (long ended = used & ~uses; ended != 0; ended &= ended - 1) {
            unusedSince[Long.numberOfTrailingZeros(ended)] = now;
        }
        used = uses;
    }

    /** A server joins: processes do not know it before, so the time in which none uses it begins now. */
    void joins(int number, long now) {
        unusedSince[number % Long.SIZE] = now;
    }

    /**
     * Whether no living process has had a lease on a joined server for so long, by what at least one of them says. If
     * another joined server's number has the same remainder by 64, that one must not be used either.
     */
    boolean isUnused(int number, long nanos, long now) {
        note(now);
        int bit = number % Long.SIZE;
        return (used >>> bit & 1) == 0 && now - unusedSince[bit] >= nanos;
    }

    /** Whether all living processes have lost these servers, for so long. */
    boolean haveLost(long servers, long nanos, long now) {
        note(now);
        if ((servers & ~lostByAll) != 0) {
            return false;
        }
        for (int number = 0; number < Long.SIZE; number++) {
            if ((servers >>> number & 1) != 0 && now - lostByAllSince[number] < nanos) {
                return false;
            }
        }
        return true;
    }

    /** The servers that are gone, a bit for each of the first 64. */
    long gone() {
        return gone;
    }

    /** Another server says that a process has no opening there. */
    void endedAt(long process, long other) {
        if (other < 0 || other >= servers) {
            return;
        }
        for (EndedMember each : ended) {
            if (each.process == process) {
                each.servers.set((int) other);
            }
        }
        ended.removeIf(each -> each.servers.cardinality() == needed);
        askAboutMore();
    }

    /** Whether some process that ended here may continue through another server. */
    boolean doubted() {
        return !ended.isEmpty();
    }

    /**
     * Lists the processes about whose end the other servers must be asked.
     *
     * @return how many
     */
    int doubted(long[] processes, int at, int most) {
        int n = Math.min(most, ended.size());
        for (int i = 0; i < n; i++) {
            processes[at + i] = ended.get(i).process;
        }
        return n;
    }
}
