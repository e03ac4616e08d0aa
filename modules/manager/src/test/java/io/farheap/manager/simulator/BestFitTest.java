package io.farheap.manager.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BestFitTest {

    private static final int FIRST = 100;
    private static final int CORES = 16;
    private static final int GIB = 130;

    private final int[] cores = new int[40];
    private final int[] gib = new int[40];

    @Test
    void findsWhatASearchOfAllServersFinds() {
        Random random = new Random(7);
        BestFit rooms = new BestFit(FIRST, cores.length, CORES, GIB);
        Arrays.fill(cores, CORES);
        Arrays.fill(gib, GIB);
        int found = 0;
        for (int i = 0; i < 20_000; i++) {
            int changed = random.nextInt(cores.length);
            cores[changed] = random.nextInt(CORES + 1);
            gib[changed] = random.nextInt(GIB + 1);
            rooms.update(FIRST + changed, cores[changed], gib[changed]);
            int neededCores = 1 + random.nextInt(CORES);
            int neededGib = 1 + random.nextInt(GIB + 10);
            int server = rooms.find(neededCores, neededGib);
            double least = naive(neededCores, neededGib);
            if (server == BestFit.NONE) {
                assertEquals(Double.POSITIVE_INFINITY, least);
            } else {
                found++;
                assertTrue(cores[server - FIRST] >= neededCores && gib[server - FIRST] >= neededGib);
                assertEquals(least, left(server - FIRST));
            }
        }
        assertTrue(found > 1_000 && found < 20_000, "found " + found);
    }

    private double naive(int neededCores, int neededGib) {
        double least = Double.POSITIVE_INFINITY;
        for (int server = 0; server < cores.length; server++) {
            if (cores[server] >= neededCores && gib[server] >= neededGib) {
                least = Math.min(least, left(server));
            }
        }
        return least;
    }

    private double left(int server) {
        return cores[server] + SimulationParameters.GIB_WEIGHT * gib[server];
    }
}
