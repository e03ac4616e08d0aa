package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicInteger;
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
    private Clock clock = at(MadeCheckout.TODAY);
    private MachineLoad.Probe load = () -> new MachineLoad(0.1, 3);

    private static Clock at(LocalDate date) {
        return Clock.fixed(date.atStartOfDay(ZoneOffset.UTC).toInstant(), ZoneOffset.UTC);
    }

    private int execute(String... arguments) {
        PrintWriter writer = new PrintWriter(printed);
        return new CommandLine(new FiguresCommand(directory, clock, load))
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
                made                some 2 min; at most 300 s
                    SOFTVERBS=model=made ./farheap bench made --turns 3
                    measured on 2026-11-01
                """, printed.toString());
    }

    @Test
    void theListShowsWhichFiguresAreOldAndChangesNothing() throws IOException {
        MadeCheckout checkout = new MadeCheckout(directory);
        String stored = Files.readString(directory.resolve(FigureFile.place("made")));
        clock = at(LocalDate.of(2027, 1, 31));
        assertEquals(0, execute("--list", "--quick", "made"));
        assertEquals("""
                made                quick; at most 180 s
                    SOFTVERBS=model=made ./farheap bench made --turns 1
                    measured on 2026-11-01
                    Old: more than 90 days ago.
                """, printed.toString());
        assertEquals(stored, Files.readString(directory.resolve(FigureFile.place("made"))));
        checkout.write(FigureFile.place("made").toString(), "{");
        assertEquals(0, execute("--list"));
        assertTrue(
                printed.toString()
                        .contains("\n    its stored figure is wrong: docs/figures/json/made.json: it is not JSON"),
                printed::toString);
        Files.delete(directory.resolve(FigureFile.place("made")));
        assertEquals(1, execute("--list", "made", "none"));
        assertTrue(printed.toString().endsWith("    not measured\n"), printed::toString);
        assertTrue(printed.toString().contains("farheap: none: there is no such figure; there are made\n"));
    }

    @Test
    void theListNamesTheCommitThatMadeAFigureOld() throws Exception {
        MadeRepository.requireGit();
        MadeRepository repository = new MadeRepository(directory);
        String code = "src/main/java/io/farheap/made/Made.java";
        repository.write(code, "1");
        MadeCheckout checkout = new MadeCheckout(directory);
        JsonObject stored = MadeCheckout.stored();
        stored.addProperty("commit", repository.commit("code"));
        checkout.store(stored);
        repository.write(code, "2");
        String later = repository.commit("later code");
        assertEquals(0, execute("--list"));
        assertTrue(
                printed.toString()
                        .contains("    Old: the code has changed.\n    The latest change is commit "
                                + later.substring(0, 10) + " of "),
                printed::toString);
    }

    /** A repository of its own: the test's directory may be inside another one. */
    private void withoutCommit() throws Exception {
        MadeRepository.requireGit();
        new MadeRepository(directory);
        new MadeCheckout(directory);
    }

    @Test
    void aBusyMachineIsRefusedUnlessTheUserAgrees() throws Exception {
        withoutCommit();
        load = () -> new MachineLoad(0.1, 40);
        assertEquals(1, execute("made"));
        assertEquals("""
                other work uses 40% of the processor's time (load average 0.1), and a figure needs a machine on which \
                it uses at most 25%; wait until the other work has ended, or add --busy
                """, printed.toString());
        printed.getBuffer().setLength(0);
        assertEquals(1, execute("--busy", "made"));
        assertEquals(
                directory + ": git reports no commit here, and a figure must name one; measure it in a clone\n",
                printed.toString());
    }

    @Test
    void aBuildThatHasEndedRefusesNothing() throws Exception {
        withoutCommit();
        AtomicInteger looks = new AtomicInteger();
        load = () -> new MachineLoad(8, looks.incrementAndGet() == 1 ? 60 : 3);
        assertEquals(1, execute("made"));
        assertEquals(2, looks.get());
        assertTrue(printed.toString().contains("git reports no commit here"), printed::toString);
    }

    @Test
    void aQuickRunThatFailsSaysWhyAndRendersNothing() throws Exception {
        MadeRepository.requireGit();
        MadeCheckout checkout = new MadeCheckout(directory);
        Path launcher =
                Files.writeString(directory.resolve("farheap"), "#!/bin/sh\necho 'farheap: no device' >&2\nexit 1\n");
        Files.setPosixFilePermissions(launcher, PosixFilePermissions.fromString("rwxr-xr-x"));
        MadeRepository repository = new MadeRepository(directory);
        repository.commit("all");
        assertEquals(1, execute("--quick", "made"), printed::toString);
        assertEquals("""
                made: SOFTVERBS=model=made ./farheap bench made --turns 1
                farheap: made: it ended with status 1; its last message: farheap: no device
                """, printed.toString());
        assertFalse(checkout.page().contains("36 ns"), "a quick run renders nothing");
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
        checkout.render(MadeCheckout.TODAY);
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
        assertEquals(1, execute("--render", "--list"));
        assertEquals(1, execute("--render", "made"));
        assertEquals("""
                --render: it writes all stored figures into the pages; use it without --quick
                --render: it writes all stored figures into the pages; use it without --list
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
