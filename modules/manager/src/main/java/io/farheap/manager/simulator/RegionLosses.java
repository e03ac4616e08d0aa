package io.farheap.manager.simulator;

import io.farheap.manager.simulator.SpotMarket.SpotMachine;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Counts the regions of simulated caches whose content was lost with a machine. One thread at a time. */
final class RegionLosses {

    private long all;
    private long inTurn;
    private long absent;

    /**
     * Counts what caches lose on machines that have ended. Regions that had moved before the end are not lost.
     *
     * @param caches by number
     * @param closes takes each cache that had regions there, once: its client closes it
     */
    void count(Collection<SpotMachine> gone, Map<Long, SpotCache> caches, Consumer<SpotCache> closes) {
        Map<Long, SpotCache> hit = new TreeMap<>();
        for (SpotMachine machine : gone) {
            for (long id : machine.held.keySet()) {
                SpotCache cache = caches.get(id);
                if (cache != null) {
                    count(cache, machine);
                    hit.put(id, cache);
                }
            }
        }
        // A rack may have had several machines of a cache, and each counts.
        hit.values().forEach(closes);
    }

    private void count(SpotCache cache, SpotMachine machine) {
        SpotCache.ClientMove move = cache.move;
        long moved = 0;
        boolean late = false;
        if (move != null && move.source() == machine) {
            moved = Math.max(0, (machine.endsAt() - move.beganAt()) / SpotMarketSimulation.MOVE_MILLIS);
            late = move.isLateByAbsence();
        }
        long there = Math.max(0, cache.regions.getOrDefault(machine.number, 0) - moved);
        all += there;
        absent += late ? there : 0;
        inTurn += !late && cache.leavesOthers(machine) ? there : 0;
    }

    long all() {
        return all;
    }

    /** Returns those of caches that left other machines within the same notice, and whose client was not late. */
    long inTurn() {
        return inTurn;
    }

    /** Returns those of caches whose client was away when its alert came, and would have been in time otherwise. */
    long absent() {
        return absent;
    }
}
