package io.farheap.kv.service;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The processes that use a map through one server. One that has ended here may go on through another server, and then
 * change a slot there that names a block of this one; so it is dead only when all servers that have slots, and this
 * one, have ended its opening, which clients' keepers find out. One thread at a time.
 */
final class MapMembers {

    /** A process that beats each second is silent when nothing was heard of it for so long. */
    private static final long SILENT_NANOS = 2_000_000_000L;
    /** Processes that ended, whose end others are asked for. */
    private static final int MOST_ENDED = 4096;

    /** @param at when its opening here ended */
    private record EndedMember(long process, BitSet servers, long at) {}

    private final int server;
    /** That have a part of the table. */
    private final int servers;
    /** Whose ends a process's end needs. */
    private final int needed;

    private final Map<Long, MapMember> living = new HashMap<>();
    private final List<EndedMember> ended = new ArrayList<>();

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

    /** What the epoch said when the oldest request in flight of all may have begun. */
    long oldestEpoch(long now) {
        // One that has ended here may go on elsewhere.
        long oldest = ended.isEmpty() ? now : 0;
        for (MapMember member : living.values()) {
            oldest = Math.min(oldest, member.epoch);
        }
        return oldest;
    }

    /**
     * Whether one is silent that keeps all from having reached an epoch; or one that has ended here may go on
     * elsewhere, and for long nobody has said that it does not, as that server is lost.
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

    /** How many of the map's growths every process has, if one has; else so many. */
    long leastGrowths(long most) {
        return living.values().stream()
                .mapToLong(member -> member.growths)
                .min()
                .orElse(most);
    }

    Collection<MapMember> living() {
        return living.values();
    }

    boolean lives(long process) {
        return living.values().stream().anyMatch(member -> member.process == process);
    }

    /** It has given all back, and its operations have ended. */
    void left(long lease) {
        living.remove(lease);
    }

    /** @return whether it had registered */
    boolean end(long lease, long now) {
        MapMember member = living.remove(lease);
        if (member != null && needed > 1 && ended.size() < MOST_ENDED) {
            BitSet known = new BitSet(needed);
            known.set(server);
            ended.add(new EndedMember(member.process, known, now));
        }
        return member != null;
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
    }

    /** Whether a process that ended here may go on through another server. */
    boolean doubted() {
        return !ended.isEmpty();
    }

    /** Processes whose end others are to be asked for. @return how many */
    int doubted(long[] processes, int at, int most) {
        int n = Math.min(most, ended.size());
        for (int i = 0; i < n; i++) {
            processes[at + i] = ended.get(i).process;
        }
        return n;
    }
}
