package io.farheap.bench.resize;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.bench.report.ModelLateness;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Reads and writes beside resizes take turns. */
class ResizeTurnsTest {

    private final StringBuilder order = new StringBuilder();

    private ResizeBench.Side load(char name) {
        return () -> {
            order.append(name);
            return new ResizeFigures.Turn(100, 50, 100, 1, 1, 1);
        };
    }

    @Test
    void noLoadIsAlwaysTheFirst() {
        try (ModelLateness lateness = new ModelLateness()) {
            List<ResizeFigures> figures = ResizeBench.take(List.of(load('r'), load('w')), 3, lateness);
            assertEquals("wrrwwr" + "rwwrrwwr", order.toString());
            assertEquals(0.5, figures.getFirst().ratio());
        }
    }
}
