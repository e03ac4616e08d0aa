package io.farheap.lifetime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CloseablesTest {

    private final List<String> closed = new ArrayList<>();
    private final RuntimeException one = new IllegalStateException("one");
    private final Error two = new AssertionError("two");

    private AutoCloseable closing(String name, Throwable thrown) {
        return () -> {
            closed.add(name);
            switch (thrown) {
                case null -> {}
                case Error e -> throw e;
                case Exception e -> throw e;
                default -> throw new AssertionError(thrown);
            }
        };
    }

    @Test
    void allAreClosedInOrderAndTheFirstFailureIsTold() {
        assertSame(
                one,
                assertThrows(
                        RuntimeException.class,
                        () -> Closeables.all(
                                closing("a", null),
                                null,
                                closing("b", one),
                                closing("c", two),
                                closing("d", one),
                                closing("e", null))));
        assertEquals(List.of("a", "b", "c", "d", "e"), closed);
        assertArrayEquals(new Throwable[] {two}, one.getSuppressed());
    }

    @Test
    void anErrorIsToldToo() {
        assertSame(two, assertThrows(Error.class, () -> Closeables.all(closing("a", two), closing("b", one))));
        assertArrayEquals(new Throwable[] {one}, two.getSuppressed());
        assertEquals(List.of("a", "b"), closed);
    }

    @Test
    void aCheckedExceptionIsTheCause() {
        IOException checked = new IOException("no");
        assertSame(
                checked,
                assertThrows(IllegalStateException.class, () -> Closeables.all(closing("a", checked)))
                        .getCause());
    }

    @Test
    void afterAFailureThatIsTheOneToTell() {
        RuntimeException failure = new IllegalArgumentException();
        assertDoesNotThrow(() -> Closeables.after(failure, closing("a", one), closing("b", two)));
        assertEquals(List.of("a", "b"), closed);
        assertArrayEquals(new Throwable[] {one}, failure.getSuppressed());
        assertArrayEquals(new Throwable[] {two}, one.getSuppressed());
    }

    @Test
    void whatIsNotKeptIsClosedLatestFirst() {
        RuntimeException failure = new IllegalArgumentException();
        assertSame(failure, assertThrows(RuntimeException.class, () -> {
            try (CloseStack stack = new CloseStack()) {
                stack.add(closing("a", null));
                stack.add(closing("b", one));
                stack.add(closing("c", null));
                throw failure;
            }
        }));
        assertEquals(List.of("c", "b", "a"), closed);
        assertArrayEquals(new Throwable[] {one}, failure.getSuppressed());
    }

    @Test
    void whatIsKeptStaysOpen() {
        try (CloseStack stack = new CloseStack()) {
            stack.add(closing("a", one));
            stack.keep();
        }
        assertEquals(List.of(), closed);
    }
}
