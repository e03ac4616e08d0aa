package io.farheap.soak;

import io.farheap.cache.Cache;
import io.farheap.cache.contract.CacheException;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.PauseScope;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Moves random regions in random ways, retires servers and adds them again, and has requests travel in other ways,
 * until it is stopped.
 */
final class Migrator implements Runnable {

    private static final int LONGEST_PAUSE_MILLIS = 200;

    private final Cache cache;
    private final SplittableRandom random;
    private final Problems problems;
    /** Whether faults excuse what fails. */
    private final boolean mayFail;

    private final Set<String> away = new LinkedHashSet<>();
    private final Set<Integer> failed = ConcurrentHashMap.newKeySet();
    private final AtomicLong moved = new AtomicLong();
    private volatile boolean stop;

    Migrator(Cache cache, SplittableRandom random, boolean mayFail, Problems problems) {
        this.cache = cache;
        this.random = random;
        this.mayFail = mayFail;
        this.problems = problems;
    }

    @Override
    public void run() {
        try {
            while (!stop) {
                step();
                Thread.sleep(random.nextInt(LONGEST_PAUSE_MILLIS));
            }
        } catch (Throwable e) {
            problems.add("the migrator", e);
        }
    }

    void stop() {
        stop = true;
    }

    long moved() {
        return moved.get();
    }

    /** Regions a migration of which failed: they may be in two places, of which one is lost. */
    Set<Integer> failed() {
        return failed;
    }

    private void step() {
        for (String address : List.copyOf(away)) {
            attempt(List.of(), () -> {
                cache.addServer(address);
                away.remove(address);
            });
        }
        if (random.nextInt(6) == 0) {
            attempt(List.of(), () -> cache.reconfigure(RandomConfigurations.next(random)));
            return;
        }
        List<String> servers = cache.servers();
        if (servers.size() < 2) {
            return;
        }
        String server = servers.get(random.nextInt(servers.size()));
        if (random.nextInt(4) == 0) {
            attempt(allRegions(), () -> {
                cache.retire(server, options(), one -> moved.addAndGet(one.regions()));
                away.add(server);
            });
        } else {
            List<Integer> regions = someRegions();
            attempt(
                    regions,
                    () -> moved.addAndGet(
                            cache.migrate(regions, server, options()).regions()));
        }
    }

    private void attempt(List<Integer> regions, Runnable move) {
        try {
            move.run();
        } catch (CacheException e) {
            failed.addAll(regions);
            if (!mayFail) {
                problems.add("a migration or reconfiguration failed, and no fault excuses it: " + e.getMessage());
            }
        }
    }

    private List<Integer> allRegions() {
        List<Integer> regions = new ArrayList<>();
        for (int region = 0; region < cache.regions(); region++) {
            regions.add(region);
        }
        return regions;
    }

    private List<Integer> someRegions() {
        List<Integer> regions = allRegions();
        regions.removeIf(region -> random.nextInt(3) != 0);
        return regions;
    }

    private MigrationOptions options() {
        int chunk = 4096 << random.nextInt(6);
        PauseScope pause = PauseScope.values()[random.nextInt(PauseScope.values().length)];
        return new MigrationOptions(pause, random.nextInt(4) != 0, chunk, (long) chunk << random.nextInt(4));
    }
}
