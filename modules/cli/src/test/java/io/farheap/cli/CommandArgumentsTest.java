package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.command.Durations;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** Values of options are taken exactly as the user typed them, whatever they look like. */
class CommandArgumentsTest {

    private static ParseResult parse(String... values) {
        List<String> arguments = new ArrayList<>(List.of("kv", "set", "--servers", "h:1", "--token", "a$b$$c${d}e"));
        arguments.addAll(List.of(values));
        return Main.commandLine()
                .parseArgs(arguments.toArray(String[]::new))
                .subcommand()
                .subcommand();
    }

    private static String value(ParseResult parsed, int position) {
        return parsed.matchedPositional(position).getValue();
    }

    @Test
    void aValueIsNeitherAFileNorAPattern(@TempDir Path directory) throws Exception {
        String file = "@" + Files.writeString(directory.resolve("file"), "other words");
        ParseResult parsed = parse("map", "${env:PATH}", file);
        assertEquals("${env:PATH}", value(parsed, 1));
        assertEquals(file, value(parsed, 2));
        assertEquals("a$b$$c${d}e", parsed.matchedOptionValue("--token", ""));
    }

    @Test
    void aValueThatLooksLikeAnOptionComesAfterTwoHyphens() {
        ParseResult parsed = parse("map", "--", "-5", "--x");
        assertEquals("-5", value(parsed, 1));
        assertEquals("--x", value(parsed, 2));
        StringWriter said = new StringWriter();
        int code = Main.commandLine()
                .setErr(new PrintWriter(said))
                .execute("kv", "set", "--servers", "h:1", "--token", "secret 1", "map", "key", "--x");
        assertEquals(2, code, said::toString);
        assertTrue(
                said.toString().endsWith("If --x is a value, put -- before it, and the options before that: -- --x\n"),
                said::toString);
    }

    /** The usage of the server command has dozens of lines, which would hide the sentence. */
    @Test
    void aWrongValueIsAnsweredWithASentenceAndNotWithTheUsage() {
        StringWriter said = new StringWriter();
        CommandLine line = Main.commandLine().setErr(new PrintWriter(said));
        assertEquals(2, line.execute("server", "--memory", "256x"), said::toString);
        List<String> lines = said.toString().lines().toList();
        assertEquals(2, lines.size(), said::toString);
        assertTrue(lines.getFirst().contains("--memory") && lines.getFirst().contains("256x"), said::toString);
        assertEquals("see 'farheap server --help'", lines.getLast());
    }

    @Test
    void aMissingOptionIsAnsweredWithASentenceToo() {
        StringWriter said = new StringWriter();
        CommandLine line = Main.commandLine().setErr(new PrintWriter(said));
        assertEquals(2, line.execute("manager", "drain", "127.0.0.1:7400"), said::toString);
        List<String> lines = said.toString().lines().toList();
        assertEquals(2, lines.size(), said::toString);
        assertTrue(lines.getFirst().contains("--manager"), said::toString);
        assertEquals("see 'farheap manager drain --help'", lines.getLast());
    }

    @Test
    void aCommandThatOnlyContainsOthersListsThem() {
        StringWriter said = new StringWriter();
        CommandLine line = Main.commandLine().setErr(new PrintWriter(said));
        assertEquals(2, line.execute("kv"), said::toString);
        assertTrue(said.toString().contains("Usage: farheap kv "), said::toString);
        assertTrue(said.toString().lines().anyMatch(each -> each.startsWith("  drain ")), said::toString);
    }

    @Test
    void theLongestDurationOfEachOptionIsForEver() throws Exception {
        List<CommandLine> commands = new ArrayList<>(List.of(Main.commandLine()));
        int durations = 0;
        while (!commands.isEmpty()) {
            CommandLine command = commands.removeLast();
            commands.addAll(command.getSubcommands().values());
            for (OptionSpec option : command.getCommandSpec().options()) {
                if (option.type() == Duration.class) {
                    durations++;
                    String what = command.getCommandSpec().qualifiedName() + " " + option.longestName();
                    assertEquals(1, option.converters().length, what);
                    assertEquals(Durations.LONGEST, option.converters()[0].convert("999999999m"), what);
                }
            }
        }
        assertTrue(durations > 10, durations + " options");
    }

    @ParameterizedTest
    @CsvSource({"20, 20", "20us, 20", "1.5ms, 1500", "800ns, 0.8", "1s, 1e6", "1e7, 1e7"})
    void aLatencyHasAUnitOrIsInMicroseconds(String text, double micros) {
        ParseResult parsed =
                Main.commandLine().parseArgs("explain", "--read-latency", text).subcommand();
        assertEquals(micros, parsed.matchedOptionValue("--read-latency", 0.0), micros * 1e-9);
    }

    @Test
    void whatIsNoLatencyIsRefusedWithTheRemedy() {
        StringWriter said = new StringWriter();
        CommandLine line = Main.commandLine().setErr(new PrintWriter(said));
        assertEquals(2, line.execute("explain", "--write-latency", "20min"), said::toString);
        assertTrue(
                said.toString()
                        .contains("'20min' is not a latency; write microseconds, or a number with ns, us, ms or s"),
                said::toString);
    }

    @Test
    void aMapIsNotOpenedWithoutItsToken() {
        StringWriter said = new StringWriter();
        CommandLine line = Main.commandLine().setErr(new PrintWriter(said));
        assertEquals(2, line.execute("kv", "stats", "--servers", "127.0.0.1:1", "map"), said::toString);
        assertTrue(said.toString().contains("set --token, or the environment variable FARHEAP_TOKEN"), said::toString);
    }

    /** The parser would expand variables in a default, and then variables in the result. */
    @Test
    void noDefaultIsExpanded() {
        List<ArgSpec> arguments = new ArrayList<>();
        collect(Main.commandLine().setInterpolateVariables(false), arguments);
        assertFalse(arguments.isEmpty());
        for (ArgSpec argument : arguments) {
            String usual = argument.defaultValue();
            assertTrue(usual == null || !usual.contains("$"), argument + ": " + usual);
        }
    }

    @Test
    void theLongestTimeIsATime() {
        StringWriter said = new StringWriter();
        CommandLine line = Main.commandLine().setErr(new PrintWriter(said));
        assertEquals(1, line.execute("server", "--memory", "64m", "--lease", "999999999m"), said::toString);
        assertEquals(
                "farheap: a lease of " + Durations.LONGEST.toNanos() + " ns; it must last 100 ms to an hour\n",
                said.toString());
    }

    private static void collect(CommandLine line, List<ArgSpec> arguments) {
        arguments.addAll(line.getCommandSpec().args());
        line.getSubcommands().values().forEach(command -> collect(command, arguments));
    }
}
