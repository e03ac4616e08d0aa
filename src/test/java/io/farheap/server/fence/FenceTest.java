package io.farheap.server.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.posix.Errno;
import io.farheap.verbs.VerbsException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FenceTest {

    private final Set<String> busy = new HashSet<>();
    private final List<String> tried = new ArrayList<>();
    private final Fence fence = new Fence("test");

    private void add(String name) {
        fence.add(name, () -> {
            tried.add(name);
            if (busy.contains(name)) {
                throw new VerbsException(name, Errno.EBUSY);
            }
        });
    }

    @Test
    void aStageBeginsWhenAllBeforeItIsClosed() {
        add("a");
        add("b");
        add("c");
        fence.nextStage();
        add("d");
        busy.addAll(Set.of("a", "b", "d"));

        assertFalse(fence.close());
        assertEquals(List.of("a", "b", "c"), tried, "all of the stage must refuse operations at once");
        tried.clear();
        assertFalse(fence.close());
        assertEquals(List.of("a"), tried, "the device waits for each that is busy: one is enough to know");

        busy.remove("a");
        assertFalse(fence.close());
        busy.remove("b");
        assertFalse(fence.close());
        assertEquals(List.of("a", "a", "b", "b", "d"), tried);
        busy.clear();
        assertTrue(fence.close());
        assertFalse(fence.failed());
        tried.clear();
        assertTrue(fence.close());
        assertEquals(List.of(), tried);
    }

    @Test
    void whatCannotBeClosedIsNotTriedAgainAndKeepsItsRegions() {
        busy.add("a");
        add("a");
        fence.add("b", () -> {
            throw new VerbsException("b", Errno.ENOMEM);
        });
        assertFalse(fence.close());
        busy.clear();
        assertTrue(fence.close());
        assertTrue(fence.failed());
    }

    @Test
    void anErrorLosesNothing() {
        add("a");
        int[] errors = {1};
        fence.add("b", () -> {
            if (errors[0]-- > 0) {
                throw new OutOfMemoryError("injected");
            }
            tried.add("b");
        });
        assertThrows(OutOfMemoryError.class, fence::close);
        assertTrue(fence.close());
        assertEquals(List.of("a", "b"), tried);
        assertFalse(fence.failed());
    }
}
