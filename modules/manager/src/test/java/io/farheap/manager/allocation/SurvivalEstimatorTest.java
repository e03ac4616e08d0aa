package io.farheap.manager.allocation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SurvivalEstimatorTest {

    @Test
    void aFewMachinesSayNothing() {
        SurvivalEstimator life = new SurvivalEstimator(4);
        for (int i = 0; i < 9; i++) {
            life.add(100, true);
        }
        assertEquals(4, life.mean());
        assertEquals(Math.exp(-1), life.beyond(4), 1e-12);
        assertEquals(1 - Math.exp(-0.5), life.endsWithin(7, 2), 1e-12);
    }

    @Test
    void theCurveIsThatOfKaplanAndMeier() {
        SurvivalEstimator life = new SurvivalEstimator(1);
        // Ten end at 1 h, ten others are observed only until 2 h, five end at 3 h, and five still run at 4 h.
        times(10, life, 1, true);
        times(10, life, 2, false);
        times(5, life, 3, true);
        times(5, life, 4, false);
        assertEquals(1, life.beyond(0.9));
        assertEquals(20 / 30.0, life.beyond(1), 1e-12);
        assertEquals(20 / 30.0, life.beyond(2.9), 1e-12);
        assertEquals(20 / 30.0 / 2, life.beyond(3), 1e-12);
        // Beyond 3 h the rate of all 15 ends in 65 hours of lives continues.
        assertEquals(1 + 2 * 20 / 30.0 + 10 / 30.0 * 65 / 15, life.mean(), 1e-12);
        assertEquals(10 / 30.0, life.endsWithin(0.5, 1), 1e-12);
        assertEquals(0, life.endsWithin(2, 1), "five ends say too little");
        assertEquals(0, life.endsWithin(3, 1), 1e-12);
    }

    /** A market takes a rack: of all that reached that age all have ended, and yet it is one event. */
    @Test
    void machinesThatEndTogetherAreOneEvent() {
        SurvivalEstimator life = new SurvivalEstimator(1);
        for (int i = 0; i < 16; i++) {
            life.add(1, true, 1_000);
        }
        assertEquals(0, life.endsWithin(0.99, 0.1));
        for (int i = 1; i < 10; i++) {
            assertEquals(0, life.endsWithin(0.99, 0.1));
            life.add(1, true, 1_000 + i / 50.0);
        }
        assertEquals(1, life.endsWithin(0.99, 0.1));
    }

    /** Racks that are taken at once bias nothing, and fifty of them know the mean to 20%. */
    @Test
    void racksThatAreTakenAtOnceDoNotBiasTheMean() {
        Random random = new Random(7);
        double[] means = new double[200];
        Arrays.setAll(means, _ -> meanAfterFiftyTakes(random));
        double average = Arrays.stream(means).average().orElseThrow();
        assertEquals(6, average, 0.3);
        double variance = Arrays.stream(means)
                .map(mean -> (mean - average) * (mean - average))
                .average()
                .orElseThrow();
        assertEquals(1.2, Math.sqrt(variance), 0.2);
    }

    /** Eight racks are taken after 6 h on average, and in each another machine starts every hour. */
    private static double meanAfterFiftyTakes(Random random) {
        SurvivalEstimator life = new SurvivalEstimator(1);
        List<List<Double>> born = new ArrayList<>();
        double[] takenAt = new double[8];
        double[] startsAt = new double[8];
        for (int rack = 0; rack < 8; rack++) {
            born.add(new ArrayList<>());
            takenAt[rack] = 6 * random.nextExponential();
            startsAt[rack] = random.nextExponential();
        }
        double now = 0;
        for (int takes = 0; takes < 50; ) {
            int taken = first(takenAt);
            int started = first(startsAt);
            now = Math.min(takenAt[taken], startsAt[started]);
            if (now == startsAt[started]) {
                born.get(started).add(now);
                startsAt[started] = now + random.nextExponential();
                continue;
            }
            takes += born.get(taken).isEmpty() ? 0 : 1;
            for (double at : born.get(taken)) {
                life.add(now - at, true, now);
            }
            born.get(taken).clear();
            takenAt[taken] = now + 6 * random.nextExponential();
        }
        double end = now;
        life.living(
                born.stream().flatMap(List::stream).mapToDouble(at -> end - at).toArray(), end);
        return life.mean();
    }

    private static int first(double[] times) {
        int first = 0;
        for (int i = 1; i < times.length; i++) {
            first = times[i] < times[first] ? i : first;
        }
        return first;
    }

    private static void times(int count, SurvivalEstimator life, double hours, boolean ended) {
        for (int i = 0; i < count; i++) {
            life.add(hours, ended);
        }
    }

    @Test
    void machinesThatAllEndAtOnceHaveAMeanThatOneCanDivideBy() {
        SurvivalEstimator life = new SurvivalEstimator(1);
        times(20, life, 0, true);
        assertEquals(0, life.beyond(0));
        assertEquals(0, life.endsWithin(0, 1));
        assertTrue(life.mean() > 0);
    }

    /** Machines that are older than all that have ended are no proof that they end at once. */
    @Test
    void beyondTheLastEndNothingIsClaimed() {
        SurvivalEstimator life = new SurvivalEstimator(1);
        times(20, life, 5, true);
        assertEquals(1, life.endsWithin(4.9, 0.2));
        assertEquals(0, life.endsWithin(6, 1));
    }

    /** Of a hundred that started together ten have ended within an hour: the others are not about to end. */
    @Test
    void theLivingCount() {
        SurvivalEstimator life = new SurvivalEstimator(1);
        for (int i = 1; i <= 10; i++) {
            life.add(i / 10.0, true, i / 10.0);
        }
        double[] ages = new double[90];
        Arrays.fill(ages, 1);
        life.living(ages, 1);
        assertEquals(0.9, life.beyond(1), 1e-12);
        assertEquals(0, life.endsWithin(0.95, 0.04));
        assertEquals(9.2, life.mean(), 0.5);
    }

    @Test
    void aClaimRestsOnTenMachinesOfThatAge() {
        SurvivalEstimator life = new SurvivalEstimator(1);
        times(20, life, 1, true);
        times(9, life, 5, true);
        assertEquals(1, life.endsWithin(0.9, 5));
        assertEquals(0, life.endsWithin(4.9, 0.2));
    }

    /** The ends that are kept are those of a while, in which most machines have lived on. */
    @Test
    void theLivingCountAfterOldEndsWereForgotten() {
        Random random = new Random(7);
        SurvivalEstimator life = new SurvivalEstimator(1);
        double[] born = new double[400];
        double[] ends = new double[born.length];
        Arrays.setAll(ends, _ -> 24 * random.nextExponential());
        double now = 0;
        for (int i = 0; i < 3_000; i++) {
            int first = 0;
            for (int other = 1; other < ends.length; other++) {
                first = ends[other] < ends[first] ? other : first;
            }
            now = ends[first];
            life.add(now - born[first], true, now);
            born[first] = now;
            ends[first] = now + 24 * random.nextExponential();
        }
        double time = now;
        life.living(Arrays.stream(born).map(at -> time - at).toArray(), time);
        assertTrue(life.since() > 0);
        assertEquals(24, life.mean(), 3.6);
        assertEquals(Math.exp(-1), life.beyond(24), 0.06);
    }

    @Test
    void whatWasSeenLastCountsMostAndItStaysSmall() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        SurvivalEstimator life = new SurvivalEstimator(1);
        for (int i = 0; i < 5_000; i++) {
            life.add(1 + random.nextDouble(), true);
        }
        assertEquals(1.5, life.mean(), 0.1, "seed " + seed);
        for (int i = 0; i < 5_000; i++) {
            life.add(10 + random.nextDouble(), true);
        }
        assertEquals(10.5, life.mean(), 0.3, "seed " + seed);
    }

    @Test
    void anotherGoesOnWithWhatOneHasSeen() {
        SurvivalEstimator one = new SurvivalEstimator(5);
        for (int i = 1; i <= 20; i++) {
            one.add(i, i % 3 != 0);
        }
        SurvivalEstimator other = new SurvivalEstimator(50);
        other.add(100, true);
        other.load(one.since(), one.seen());
        assertEquals(one.seen(), other.seen());
        assertEquals(one.mean(), other.mean());
        one.add(21, true);
        other.add(21, true);
        for (int hours = 0; hours < 25; hours++) {
            assertEquals(one.beyond(hours), other.beyond(hours), "after " + hours + " h");
        }
    }
}
