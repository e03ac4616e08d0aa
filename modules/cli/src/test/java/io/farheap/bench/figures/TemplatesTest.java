package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables and texts of templates. */
class TemplatesTest {

    @TempDir
    private Path directory;

    private List<String> render(String file, String text) throws IOException {
        MadeCheckout checkout = new MadeCheckout(directory);
        checkout.template(file, text);
        String name = file.substring(0, file.indexOf('.'));
        return FigureTemplate.read(directory, "made", name)
                .render(FigureFile.read(directory, "made"), MadeCheckout.TODAY);
    }

    private String refusal(String file, String text) {
        return assertThrows(IllegalArgumentException.class, () -> render(file, text))
                .getMessage();
    }

    @Test
    void rowsOfOneLineAreColumns() throws IOException {
        assertEquals(
                List.of(
                        "| operation | 8 B | 4 KiB |",
                        "|---|---:|---:|",
                        "| read | 36 | 1064 |",
                        "| write | 40 | - |",
                        "",
                        "*2026-11-01, commit 0123456789, AMD EPYC, 2 cores.*"),
                render("sizes.table", """
                    by op
                    column operation | op
                    column 8 B | p50_ns size=8 %d
                    column 4 KiB | p50_ns size=4096 %d
                    """));
    }

    @Test
    void aTextHasTheOriginAndIsBrokenAtTheWidthOfPages() throws IOException {
        List<String> lines = render("long.text", """
            On {@date}, at commit {@commit}, on {@machine} ({@device}), a read took
            {least p50_ns op=read %.0f} to {most p50_ns op=read %,.0f} ns. This
            paragraph has more than one line of a page.

            - one
              item

            ```
            {@command}
            ```
            """);
        assertEquals(
                "On 2026-11-01, at commit 0123456789, on AMD EPYC, 2 cores (soft0 (soft)), a read took 36 to 1,064 ns. "
                        + "This paragraph has more than one line of a page.",
                String.join(" ", lines.subList(0, 2)));
        assertTrue(lines.getFirst().length() <= 120 && lines.getFirst().length() > 100, lines::toString);
        assertEquals(
                List.of("", "- one item", "", "```", "SOFTVERBS=model=made ./farheap bench made --turns 3", "```"),
                lines.subList(2, lines.size()));
    }

    @Test
    void aWrongTemplateIsRefusedWithItsFile() {
        assertEquals(
                "docs/figures/templates/made/wrong.table: 'line' must begin with rows, by, column or #",
                refusal("wrong.table", "line\n"));
        assertEquals(
                "docs/figures/templates/made/wrong.table: a table must have a column",
                refusal("wrong.table", "rows op=read\n"));
        assertEquals("no row of the report is in the table", refusal("wrong.table", """
                rows op=none
                column operation | op
                """));
        assertTrue(refusal("text.text", "{ratio op=none}\n").contains("no row of the report has this value"));
        assertTrue(refusal("text.text", "{@none}\n").contains("the report has no such field"));
    }

    @Test
    void aTemplateIsATableOrAText() {
        String message = refusal("reads.text", "A text beside the table of the same name.\n");
        assertTrue(message.endsWith("reads.text: a template must be a table or a text, not both"), message);
    }
}
