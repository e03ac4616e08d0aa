package io.farheap.resilience.keeper;

import io.farheap.control.ControlException;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.RegionUse;
import io.farheap.control.plane.WantedRegions;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.LeasedServer;
import io.farheap.resilience.table.Slab;
import io.farheap.resilience.table.SpaceState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Reports to servers that keep headroom how much their slabs are used, and keeps which slabs they want back. Only slabs
 * that their range can spare are reported, so a server does not ask for a slab that cannot move. Used by the keeper's
 * thread; each call to a server runs on a virtual thread, so a server that does not answer delays nothing else.
 */
final class SlabEvictions implements AutoCloseable {

    /** The period before a server has named one, and after a call that failed. */
    private static final long PERIOD_NANOS = 1_000_000_000L;

    private static final class ReportState {
        volatile boolean asking;
        volatile boolean never;
        volatile long dueAt = System.nanoTime();
        volatile List<Integer> wanted = List.of();
    }

    private final SpaceState space;
    private final Map<RemoteServer, ReportState> servers = new ConcurrentHashMap<>();
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("farheap-slab-use").factory());

    SlabEvictions(SpaceState space) {
        this.space = space;
    }

    /** Reports to the servers that are due. Does not wait. */
    void check(long now) {
        Map<RemoteServer, List<Slab>> spare = null;
        for (RemoteServer server : space.memory.servers()) {
            ReportState told = servers.computeIfAbsent(server, _ -> new ReportState());
            if (server.lost() != null) {
                told.never = true;
                told.wanted = List.of();
            }
            if (told.never || told.asking || now - told.dueAt < 0) {
                continue;
            }
            if (spare == null) {
                spare = spare();
            }
            told.dueAt = now + PERIOD_NANOS;
            told.asking = true;
            List<RegionUse> uses = uses(spare.getOrDefault(server, List.of()), now);
            threads.execute(() -> tell(server, told, uses));
        }
    }

    private Map<RemoteServer, List<Slab>> spare() {
        Map<RemoteServer, List<Slab>> spare = new HashMap<>();
        for (int range = 0; range < space.table.ranges(); range++) {
            for (int split = 0; split < space.table.splits(); split++) {
                Slab slab = space.table.slab(range, split);
                if (space.table.canSpare(slab)) {
                    spare.computeIfAbsent(slab.region().server(), _ -> new ArrayList<>())
                            .add(slab);
                }
            }
        }
        return spare;
    }

    private static List<RegionUse> uses(List<Slab> slabs, long now) {
        if (slabs.size() > ControlPlane.MAX_REPORTED) {
            Collections.shuffle(slabs, ThreadLocalRandom.current());
        }
        return slabs.stream()
                .limit(ControlPlane.MAX_REPORTED)
                .map(slab -> new RegionUse(slab.region().regionId(), slab.usesASecond(now)))
                .toList();
    }

    private static void tell(RemoteServer server, ReportState told, List<RegionUse> uses) {
        try {
            WantedRegions answer = LeasedServer.of(server).reportUse(uses);
            told.wanted = answer.regions();
            told.never = answer.againNanos() == 0;
            told.dueAt = System.nanoTime() + answer.againNanos();
        } catch (ControlException e) {
            told.wanted = List.of();
            // A server of an earlier release does not know the call.
            told.never = e.code() == ControlException.Code.PROTOCOL_MISMATCH;
        } finally {
            told.asking = false;
        }
    }

    /** Whether a server wanted memory back when it last answered: then it gets no new slab. */
    boolean isPressed(RemoteServer server) {
        ReportState told = servers.get(server);
        return told != null && !told.wanted.isEmpty();
    }

    /** The slabs that servers want back and still have. */
    List<Slab> wanted() {
        List<Slab> found = new ArrayList<>();
        servers.forEach((server, told) -> {
            if (!told.wanted.isEmpty()) {
                addSlabs(server, told.wanted, found);
            }
        });
        return found;
    }

    private void addSlabs(RemoteServer server, List<Integer> regions, List<Slab> found) {
        for (int range = 0; range < space.table.ranges(); range++) {
            for (int split = 0; split < space.table.splits(); split++) {
                Slab slab = space.table.slab(range, split);
                if (slab.region().server() == server
                        && regions.contains(slab.region().regionId())) {
                    found.add(slab);
                }
            }
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
