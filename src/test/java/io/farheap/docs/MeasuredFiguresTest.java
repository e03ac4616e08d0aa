package io.farheap.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Measured figures are in the places that {@code ./farheap figures} fills. A test of the command line checks the
 * places' content.
 */
@Needs(Need.HOST)
class MeasuredFiguresTest {

    @Test
    void measuredFiguresAreInPlaces() throws IOException {
        List<String> lines = new ArrayList<>();
        for (Page page : Page.all()) {
            MeasuredLines.of(page).forEach(line -> lines.add(line.toString()));
        }
        assertEquals("", String.join("\n", lines), "figures that are in no place");
    }

    private static List<Integer> numbers(String path, String... lines) {
        return MeasuredLines.of(new Page(Path.of(path), List.of(lines))).stream()
                .map(Page.Line::number)
                .toList();
    }

    @Test
    void onAPageOfFiguresNumbersWithUnitsAreMeasured() {
        assertEquals(
                List.of(1, 3, 4, 5, 9),
                numbers(
                        "docs/figures/made.page.md",
                        "A read takes 36 ns,",
                        "and has 8 bytes: `--turn 50ms`.",
                        "It is 1.5 times as long.",
                        "| file | 671 |",
                        "![a plot](made.png)",
                        "```",
                        "./farheap bench raw",
                        "```",
                        "Reads lose 8%."));
        assertEquals(
                List.of(2),
                numbers(
                        "docs/figures/made.page.md",
                        "```",
                        "one address; medians of 15 turns, ns",
                        "read 8 40.3",
                        "```"));
    }

    @Test
    void elsewhereTimesInNanosecondsRatesAndPlotsAreMeasured() {
        assertEquals(
                List.of(1, 3, 4),
                numbers(
                        "docs/guide/made.page.md",
                        "A record takes 14 ns.",
                        "A lease lasts 3 s, 100 ms or 12 times as long, and 20% more.",
                        "It copies 0.9 GiB/s.",
                        "![a plot](../figures/made.png)"));
    }

    /** What papers report stands in a table of one page, and each line links to its source. */
    @Test
    void onThePageOfPublishedFiguresALineOfTheTableThatLinksToItsSourceIsNotMeasured() {
        String sourced = "| HERD | 26 M/s, 5 us | ConnectX-3 | [SIGCOMM 2014](https://made.example/herd) |";
        assertEquals(
                List.of(2, 3, 4, 5, 6, 8),
                numbers(
                        "docs/figures/published.md",
                        sourced,
                        "| HERD | 26 M/s, 5 us | ConnectX-3 | SIGCOMM 2014 |",
                        "| HERD | 26 M/s, 5 us | ConnectX-3 | [peers](peers.md) |",
                        "| [HERD](https://made.example/herd) | 26 M/s, 5 us | ConnectX-3 | |",
                        "HERD takes 5 us: [SIGCOMM 2014](https://made.example/herd)",
                        "| ![a plot](made.png) | [SIGCOMM 2014](https://made.example/herd) |",
                        "```",
                        "one address; medians of 15 turns, ns",
                        "```"));
        assertEquals(List.of(1), numbers("docs/figures/made.page.md", sourced));
    }

    @Test
    void inAPlaceNothingIsByHand() {
        assertEquals(
                List.of(5),
                numbers(
                        "docs/figures/made.page.md",
                        "<!-- figure raw reads -->",
                        "A read takes 36 ns.",
                        "![a plot](made.png)",
                        "<!-- /figure -->",
                        "A write takes 37 ns."));
    }
}
