package io.farheap.soak;

import io.farheap.resilience.contract.Resilience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * What an episode of chaos is, which only the seed decides: the code, what its servers' devices and memory do all the
 * time, and what happens one after the other.
 *
 * <p>What its mode promises: of failure recovery, copies and the corruption modes that no more than r servers go at a
 * time and nothing is lost, so {@code LOST} is a fault. EC-only promises nothing where a server goes: there, and where
 * a write's timeout is so short that a busy machine makes slabs void (hasty), {@code LOST} is permitted and counted. A
 * wrong byte never is. One server's splits may be wrong where the mode shows or mends that. As long as they are, the
 * ranges must keep the splits that this takes (k + Δ, k + 2Δ + 1), so that fewer servers may go meanwhile; detection
 * may end a request as {@code CORRUPT} then, which is counted too, and correction may not.
 *
 * @param code what is promised
 * @param ranges of the cache
 * @param hasty whether a write's timeout is shorter than a busy machine may stop a process for
 * @param weakOrder whether devices store in any order
 * @param stragglers whether servers execute some operations later
 * @param corruption of one server
 * @param steps what happens, one after the other
 */
record ChaosPlan(
        Resilience code,
        int ranges,
        boolean hasty,
        boolean weakOrder,
        boolean stragglers,
        Corruption corruption,
        List<Step> steps) {

    static final int MOST_DATA = 4;
    /** k + r. */
    static final int MOST_SPLITS = MOST_DATA + 4;

    static final int MOST_RANGES = 3;

    private static final Duration SHORT_TIMEOUT = Duration.ofMillis(50);
    /** Longer than a busy machine stops a process for. */
    private static final Duration LONG_TIMEOUT = Duration.ofSeconds(20);

    static final int MOST_STEPS = 3;

    /** Of one server's splits. */
    enum Corruption {
        NONE,
        /** Bytes are wrong where WRITEs and READs of the server are stored. */
        ON_THE_WAY,
        /** Bytes in its memory become others. */
        ROT
    }

    /** What is done to servers. */
    enum ChaosFault {
        KILL("SIGKILL"),
        STOP("SIGSTOP for longer than a lease"),
        CUT_DATA("no data path for a while"),
        CUT_CONTROL("no control plane for a while"),
        CUT_BOTH("neither for a while"),
        PRESS("memory wanted back"),
        KILL_CLIENT("a client killed");

        final String words;

        ChaosFault(String words) {
            this.words = words;
        }

        /** Whether its lease is lost, for good. */
        boolean goes() {
            return this == KILL || this == STOP;
        }

        /** Whether what it has is missed by writes, or gone. */
        boolean costsSlabs() {
            return goes() || this == CUT_DATA || this == CUT_BOTH;
        }
    }

    /** @param servers that it is done to at a time */
    record Step(ChaosFault fault, int servers) {
        @Override
        public String toString() {
            return fault.words + (servers > 1 ? " (" + servers + " servers)" : "");
        }
    }

    static ChaosPlan draw(SplittableRandom random, boolean faultsArePossible, boolean orderIsFree) {
        Resilience code = code(random);
        // Of 64 bytes to 2 KiB; every fourth is no power of two.
        int split = Resilience.SPLIT_UNIT * (random.nextInt(4) == 0 ? 1 + random.nextInt(20) : 1 << random.nextInt(6));
        code = code.pageBytes(split * code.dataSplits());
        boolean hasty = random.nextInt(5) == 0;
        code = code.timeout(hasty ? SHORT_TIMEOUT : LONG_TIMEOUT);
        Corruption corruption = faultsArePossible && code.checksReads() && random.nextInt(3) != 0
                ? random.nextBoolean() ? Corruption.ON_THE_WAY : Corruption.ROT
                : Corruption.NONE;
        // Haste may take a range below the splits that show what is wrong.
        if (corruption != Corruption.NONE && hasty) {
            hasty = false;
            code = code.timeout(LONG_TIMEOUT);
        }
        // A strict write waits for a new slab, for which there may be no place until a partition heals.
        code = code.strict(code.mode() == Resilience.Mode.FAILURE_RECOVERY && random.nextInt(4) == 0);
        return new ChaosPlan(
                code,
                1 + random.nextInt(MOST_RANGES),
                hasty,
                orderIsFree && random.nextBoolean(),
                faultsArePossible && random.nextInt(3) == 0,
                corruption,
                steps(random, faultsArePossible, code, corruption));
    }

    private static Resilience code(SplittableRandom random) {
        int k = 1 + random.nextInt(MOST_DATA);
        return switch (random.nextInt(5)) {
            case 0 -> {
                int r = 1 + random.nextInt(3);
                yield Resilience.failureRecovery(k, r).additional(random.nextInt(Math.min(r, 2) + 1));
            }
            case 1 -> Resilience.corruptionDetection(k, 1 + random.nextInt(3));
            case 2 -> Resilience.corruptionCorrection(k, 3 + random.nextInt(2));
            case 3 -> Resilience.ecOnly(k, random.nextInt(3));
            default -> Resilience.copies(2 + random.nextInt(3));
        };
    }

    private static List<Step> steps(
            SplittableRandom random, boolean faultsArePossible, Resilience code, Corruption corruption) {
        int most = mostGone(code, corruption);
        List<Step> steps = new ArrayList<>();
        for (int left = 1 + random.nextInt(MOST_STEPS); left > 0; left--) {
            ChaosFault fault = ChaosFault.values()[random.nextInt(ChaosFault.values().length)];
            boolean possible = (most > 0 || !fault.costsSlabs())
                    && (faultsArePossible || fault != ChaosFault.CUT_DATA && fault != ChaosFault.CUT_BOTH);
            if (possible) {
                boolean many = fault.costsSlabs() || fault == ChaosFault.CUT_CONTROL;
                steps.add(new Step(fault, many ? 1 + random.nextInt(Math.max(1, most)) : 1));
            }
        }
        return steps;
    }

    /** How many servers may go at a time. */
    private static int mostGone(Resilience code, Corruption corruption) {
        if (code.mode() == Resilience.Mode.EC_ONLY) {
            return Math.max(1, code.paritySplits());
        }
        if (corruption == Corruption.NONE) {
            return code.paritySplits();
        }
        boolean mends = code.mode() == Resilience.Mode.CORRUPTION_CORRECTION;
        return code.paritySplits() - (mends ? 2 * code.additional() + 1 : code.additional());
    }

    /** Whether something may be lost once a server has gone, or could not be reached. */
    boolean mayLose() {
        return hasty || code.mode() == Resilience.Mode.EC_ONLY;
    }

    /** Whether a request may end as CORRUPT. */
    boolean mayShow() {
        return corruption != Corruption.NONE && code.mode() == Resilience.Mode.CORRUPTION_DETECTION;
    }

    @Override
    public String toString() {
        List<String> all = new ArrayList<>();
        all.add(code + (code.strict() ? ", strict" : "") + ", " + ranges + (ranges > 1 ? " ranges" : " range"));
        if (hasty) {
            all.add("hasty");
        }
        if (weakOrder) {
            all.add("order=weak");
        }
        if (stragglers) {
            all.add("stragglers");
        }
        if (corruption != Corruption.NONE) {
            all.add("corruption " + corruption.name().toLowerCase(Locale.ROOT).replace('_', ' '));
        }
        steps.forEach(step -> all.add(step.toString()));
        return String.join("; ", all);
    }
}
