package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.tier.device.IoStatus;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A part of what a tier owes that no other tier can read is lost, and nothing else is. */
class OwedHoleTest {

    private static final int SEGMENT = OwedTiers.SEGMENT;
    private static final int HELD = 4;
    /** The block that the fast tier cannot read, in the middle of segment 1. */
    private static final long BAD = SEGMENT + SEGMENT / 2;

    private final MemoryDevice fast = OwedTiers.device(HELD);
    private final MemoryDevice last = OwedTiers.device();

    @ParameterizedTest
    @EnumSource(names = {"LOST", "CORRUPT"})
    void theRestIsCopiedAndTheLogGoesOn(Fault fault) {
        try (OwedTiers owed = new OwedTiers(List.of(fast, last))) {
            fast.faults().inject((kind, address, length) -> {
                boolean bad = kind == Fault.Kind.READ && address <= BAD && BAD < address + length;
                return bad ? fault : Fault.NONE;
            });
            OwedTiers.refuse(last, Fault.FAILED);
            for (int segment = 0; segment < 3; segment++) {
                owed.appendWhole(segment);
            }
            OwedTiers.refuse(last, Fault.NONE);
            owed.await(() -> owed.tiers.owedBytes(1) == OwedTiers.BLOCK);
            for (int segment = 3; segment < 2 * HELD; segment++) {
                owed.appendWhole(segment);
            }
            assertEquals(IoStatus.LOST, owed.read(BAD, OwedTiers.BLOCK));
            assertEquals(IoStatus.OK, owed.read(BAD - OwedTiers.BLOCK, OwedTiers.BLOCK));
            assertEquals(IoStatus.OK, owed.read(BAD + OwedTiers.BLOCK, OwedTiers.BLOCK));
            owed.assertHas(last, SEGMENT, SEGMENT / 2, 2);
            owed.assertHas(last, 2 * SEGMENT, SEGMENT, 3);
        }
    }

    /** Splits of a coded page disagree; a later read uses others. */
    @Test
    void whatReadsAsCorruptForAMomentIsCopied() {
        AtomicInteger reads = new AtomicInteger();
        try (OwedTiers owed = new OwedTiers(List.of(fast, last))) {
            fast.faults().inject((kind, address, length) -> {
                boolean bad = kind == Fault.Kind.READ && OwedTiers.onRepair() && reads.incrementAndGet() <= 5;
                return bad ? Fault.CORRUPT : Fault.NONE;
            });
            OwedTiers.refuse(last, Fault.FAILED);
            owed.appendWhole(0);
            OwedTiers.refuse(last, Fault.NONE);
            owed.await(() -> owed.tiers.owedBytes(1) == 0);
            owed.assertHas(last, 0, SEGMENT, 1);
            assertEquals(0, owed.tiers.lost(0));
        }
    }

    /** A hole is a whole chunk, and would have later appends to the chunk in it. */
    @Test
    void whatIsAppendedBehindABadBlockIsRead() {
        AtomicInteger reads = new AtomicInteger();
        try (OwedTiers owed = new OwedTiers(List.of(fast, last))) {
            fast.faults().inject((kind, address, length) -> {
                boolean bad = kind == Fault.Kind.READ && address == 0;
                reads.addAndGet(bad && OwedTiers.onRepair() ? 1 : 0);
                return bad ? Fault.LOST : Fault.NONE;
            });
            OwedTiers.refuse(last, Fault.FAILED);
            assertEquals(IoStatus.OK, owed.append(0, OwedTiers.BLOCK, 1));
            owed.await(() -> reads.get() > 2);
            assertEquals(IoStatus.OK, owed.append(OwedTiers.BLOCK, OwedTiers.BLOCK, 2));
            assertEquals(IoStatus.OK, owed.read(OwedTiers.BLOCK, OwedTiers.BLOCK));
            OwedTiers.refuse(last, Fault.NONE);
            assertEquals(IoStatus.OK, owed.append(2 * OwedTiers.BLOCK, SEGMENT - 2 * OwedTiers.BLOCK, 3));
            owed.await(() -> owed.tiers.owedBytes(1) == OwedTiers.BLOCK);
            owed.assertHas(last, OwedTiers.BLOCK, OwedTiers.BLOCK, 2);
            owed.await(() -> owed.read(0, OwedTiers.BLOCK) == IoStatus.LOST);
        }
    }

    /** A hole is a chunk of 64 KiB, of which the last tier may have refused several parts. */
    @Test
    void whatIsOwedBesideABadBlockIsCopied() {
        int chunk = 1 << 16;
        try (OwedTiers owed = new OwedTiers(List.of(fast, last))) {
            fast.faults()
                    .inject((kind, address, length) ->
                            kind == Fault.Kind.READ && address == 0 ? Fault.LOST : Fault.NONE);
            OwedTiers.refuse(last, Fault.FAILED);
            assertEquals(IoStatus.OK, owed.append(0, OwedTiers.BLOCK, 1));
            assertEquals(IoStatus.OK, owed.append(chunk - 512, 512, 2));
            OwedTiers.refuse(last, Fault.NONE);
            owed.await(() -> owed.tiers.owedBytes(1) == OwedTiers.BLOCK);
            owed.assertHas(last, chunk - 512, 512, 2);
            owed.await(() -> owed.read(0, OwedTiers.BLOCK) == IoStatus.LOST);
            assertEquals(IoStatus.OK, owed.read(chunk - 512, 512));
        }
    }

    /** A read that meets the bad block first leaves the rest of its chunk to the copy. */
    @Test
    void aReadOfABadBlockTakesNothingElseWithIt() {
        try (OwedTiers owed = new OwedTiers(List.of(fast, last))) {
            fast.faults()
                    .inject((kind, address, length) ->
                            kind == Fault.Kind.READ && address == 0 ? Fault.LOST : Fault.NONE);
            OwedTiers.refuse(last, Fault.FAILED);
            owed.appendWhole(0);
            assertEquals(IoStatus.LOST, owed.read(0, OwedTiers.BLOCK));
            assertEquals(IoStatus.OK, owed.read(OwedTiers.BLOCK, OwedTiers.BLOCK));
            OwedTiers.refuse(last, Fault.NONE);
            owed.await(() -> owed.tiers.owedBytes(1) == OwedTiers.BLOCK);
            owed.assertHas(last, OwedTiers.BLOCK, SEGMENT - OwedTiers.BLOCK, 1);
        }
    }
}
