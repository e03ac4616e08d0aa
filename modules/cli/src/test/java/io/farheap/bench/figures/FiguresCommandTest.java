package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The command without its runs. */
@Needs(Need.HOST)
class FiguresCommandTest {

    @TempDir
    private Path directory;

    private final StringWriter printed = new StringWriter();

    private int execute(String... arguments) {
        PrintWriter writer = new PrintWriter(printed);
        return new CommandLine(new FiguresCommand(directory))
                .setOut(writer)
                .setErr(writer)
                .setExecutionExceptionHandler((failure, command, _) -> {
                    command.getErr().println(failure.getMessage());
                    return 1;
                })
                .execute(arguments);
    }

    @Test
    void theListHasEachFigure() throws IOException {
        new MadeCheckout(directory);
        assertEquals(0, execute("--list"));
        assertEquals("""
                made                measured on 2026-11-01; at most 60 s
                    SOFTVERBS=model=made ./farheap bench made --turns 3
                """, printed.toString());
    }

    @Test
    void anUnknownNameIsNamed() throws IOException {
        new MadeCheckout(directory);
        assertEquals(1, execute("none", "nothing", "none"));
        assertEquals("""
                farheap: none: there is no such figure; there are made
                farheap: nothing: there is no such figure; there are made
                """, printed.toString());
    }

    @Test
    void pagesAreRenderedWithoutARun() throws IOException {
        MadeCheckout checkout = new MadeCheckout(directory);
        assertEquals(0, execute("--render"), printed::toString);
        assertEquals("written: docs/figures/made.page.md\n", printed.toString());
        assertTrue(checkout.page().contains("A read of 8 bytes takes 36 ns"), checkout.page());
    }

    @Test
    void aPlaceThatCannotBeRenderedIsNamedAndStays() throws IOException {
        MadeCheckout checkout = new MadeCheckout(directory);
        String before = checkout.page();
        Files.delete(directory.resolve(FigureFile.place("made")));
        assertEquals(1, execute("--render"));
        assertEquals(before, checkout.page());
        assertTrue(
                printed.toString()
                        .startsWith("farheap: docs/figures/made.page.md:3: docs/figures/json/made.json is not there"),
                printed::toString);
    }

    @Test
    void renderingTakesNeitherNamesNorQuick() throws IOException {
        new MadeCheckout(directory);
        assertEquals(1, execute("--render", "--quick"));
        assertEquals(1, execute("--render", "made"));
        assertEquals("""
                --render: it writes all stored figures into the pages; use it without --quick
                --render: it writes all stored figures into the pages; use it without NAME
                """, printed.toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '^',
            value = {
                "{}; it must be an array of figures",
                "[1]; each figure must be an object",
                "[{}]; a figure: its field name must be a text that is not empty",
                "[{\"name\": \"A b\"}]; figure A b: its name must have small letters, digits and single hyphens only",
                "[{\"name\": \"a\", \"limit\": 1}]; figure a: there is no field limit",
                "[{\"name\": \"a\"}]; figure a: it has no packages",
                "[{\"name\": \"a\", \"packages\": [\"b\"]}]; figure a: its field command must be a text",
            })
    void aWrongListIsRefused(String list, String problem) throws IOException {
        new MadeCheckout(directory).write(FigureList.FILE.toString(), list);
        assertEquals(1, execute("--list"));
        assertTrue(printed.toString().startsWith("docs/figures/figures.json: " + problem), printed::toString);
    }

    @Test
    void elsewhereThereIsNoList() {
        assertEquals(1, execute("--list"));
        assertTrue(
                printed.toString().contains("there is no such file; measure figures in a checkout"), printed::toString);
    }
}
