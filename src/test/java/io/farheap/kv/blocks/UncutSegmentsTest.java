package io.farheap.kv.blocks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SizeClasses;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class UncutSegmentsTest {

    private static final int CLASS = 3;
    private static final int OTHER = 5;
    private static final int SEGMENT_UNITS = 64;
    private static final int SEGMENT_BYTES = SEGMENT_UNITS * BlockFormat.UNIT_BYTES;
    private static final int BLOCKS = SEGMENT_UNITS / SizeClasses.units(CLASS);

    private final UncutSegments uncut = new UncutSegments();

    private List<Long> add(int sizeClass, int number) {
        assertTrue(uncut.add(sizeClass, (long) number * SEGMENT_UNITS, SEGMENT_BYTES));
        HeldBlocks blocks = new HeldBlocks();
        blocks.addSegment(sizeClass, (long) number * SEGMENT_UNITS, SEGMENT_BYTES);
        return words(blocks);
    }

    private static List<Long> words(HeldBlocks blocks) {
        List<Long> words = new ArrayList<>();
        for (int i = 0; i < blocks.count(); i++) {
            words.add(blocks.word(i));
        }
        return words;
    }

    private List<Long> cutAll(int sizeClass) {
        List<Long> cut = new ArrayList<>();
        while (uncut.left(sizeClass) > 0) {
            cut.add(uncut.next(sizeClass));
            uncut.cut(sizeClass);
        }
        return cut;
    }

    @Test
    void segmentsOfAClassAreCutOneAfterAnother() {
        List<Long> blocks = add(CLASS, 7);
        List<Long> others = add(OTHER, 4);
        blocks.addAll(add(CLASS, 2));
        blocks.addAll(add(CLASS, 9));
        int usable = SEGMENT_UNITS / SizeClasses.units(OTHER) * SizeClasses.units(OTHER);
        int blockUnits = BLOCKS * SizeClasses.units(CLASS);
        assertEquals(blockUnits + usable, uncut.unitsBut(CLASS), "of two classes one is being cut");
        assertEquals(3 * blockUnits + usable, uncut.unitsBut(OTHER));
        assertEquals(3 * blockUnits, uncut.unitsOf(CLASS));
        assertEquals(blocks, cutAll(CLASS));
        assertEquals(others, cutAll(OTHER));
        assertTrue(uncut.isEmpty());
    }

    @Test
    void whereManyAreSpareThereIsNoRoomForMore() {
        add(CLASS, 0);
        for (int i = 1; i <= 4 * MapCalls.MOST_SEGMENTS; i++) {
            add(CLASS, i);
        }
        assertFalse(uncut.add(CLASS, 1000, SEGMENT_BYTES));
        assertTrue(uncut.add(OTHER, 1000, SEGMENT_BYTES), "nothing of it is being cut");
        assertEquals((4 * MapCalls.MOST_SEGMENTS + 1) * BLOCKS, cutAll(CLASS).size());
        assertTrue(uncut.add(CLASS, 1000, SEGMENT_BYTES));
    }

    @Test
    void spareOnesAreTakenToPieces() {
        List<Long> first = add(CLASS, 0);
        List<Long> second = add(CLASS, 1);
        List<Long> third = add(CLASS, 2);
        List<Long> pieces = new ArrayList<>();
        uncut.unpack(block -> block == second.getFirst(), pieces::add);
        assertEquals(second, pieces);
        List<Long> all = new ArrayList<>();
        uncut.forEach(all::add);
        assertEquals(Set.copyOf(all), union(first, third));
        first.addAll(third);
        assertEquals(first, cutAll(CLASS));
    }

    private static Set<Long> union(List<Long> one, List<Long> other) {
        Set<Long> all = new HashSet<>(one);
        all.addAll(other);
        return all;
    }

    /** A look must find each block that has not been cut when the look ends. */
    @Test
    void whoeverLooksMeanwhileMissesNothing() {
        AtomicInteger cut = new AtomicInteger();
        for (int round = 0; round < 300; round++) {
            List<Long> blocks = new ArrayList<>();
            for (int i = 0; i < MapCalls.MOST_SEGMENTS; i++) {
                blocks.addAll(add(CLASS, i));
            }
            cut.set(0);
            CompletableFuture<Void> cutting = CompletableFuture.runAsync(() -> {
                while (uncut.left(CLASS) > 0) {
                    cut.incrementAndGet();
                    uncut.cut(CLASS);
                }
            });
            while (cut.get() < blocks.size()) {
                HeldBlocks held = new HeldBlocks();
                uncut.held(held);
                int gone = cut.get();
                assertTrue(new HashSet<>(words(held)).containsAll(blocks.subList(gone, blocks.size())), "of " + gone);
            }
            cutting.join();
        }
    }
}
