package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.docs.Page;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;

/** Each command of the pages passes the parser of the command line, or is one of the launcher's own. */
class CommandLinesTest {

    /** A command, which may have variables of the environment in front. */
    private static final Pattern COMMAND = Pattern.compile("(?:\\$ )?(?:[A-Z_]+=\\S+ +)*\\./farheap(?:\\s+(.*))?");

    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|'([^']*)'|(\\S+)");
    /** Words after which the shell begins another command, or a comment. */
    private static final Pattern END = Pattern.compile("#.*|\\|{1,2}|&{1,2}|;|\\d?>.*|<");

    private static final Pattern JVM_OPTION = Pattern.compile("-[DX].*|--[^=]+=.*");
    /** A branch of the launcher's case of first words, which has one tab of indentation. */
    private static final Pattern LAUNCHED = Pattern.compile("^\\t(\\w+)\\)$", Pattern.MULTILINE);

    /** Words that stand for a value, with a value. */
    private static final Map<String, String> VALUES = Map.of(
            "N", "1",
            "S", "1",
            "SEED", "1",
            "SECONDS", "1",
            "SIZE", "64m",
            "BYTES", "64m",
            "TIME", "3s",
            "PERCENT", "25%",
            "HOST:PORT", "127.0.0.1:7400");

    /** Any other word that stands for a value. */
    private static final Pattern PLACEHOLDER = Pattern.compile("[A-Z][A-Z0-9_:/@,-]*");

    private static final Path LAUNCHER = Path.of("farheap");
    private static final Path RUNNER = Path.of("src/runner/java");

    private static Set<String> launched;
    /** The launcher and the test runner, whose options a command of them may have. */
    private static String launcher;

    /** @param whole whether it has all arguments that the command needs, as a line of a block does */
    private record Command(String place, String text, boolean whole) {}

    @BeforeAll
    static void readLauncher() throws IOException {
        StringBuilder text = new StringBuilder(Files.readString(LAUNCHER));
        launched = LAUNCHED.matcher(text).results().map(word -> word.group(1)).collect(Collectors.toUnmodifiableSet());
        assertTrue(launched.containsAll(Set.of("test", "build", "jmh")), launched::toString);
        try (Stream<Path> files = Files.walk(RUNNER)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                text.append(Files.readString(file));
            }
        }
        launcher = text.toString();
    }

    @Test
    void eachCommandPassesTheParser() throws IOException {
        CommandLine parser = Main.commandLine();
        List<String> refused = new ArrayList<>();
        List<Command> commands = commands();
        for (Command command : commands) {
            String why = refusal(parser, command);
            if (why != null) {
                refused.add(command.place() + ": " + command.text() + "\n    " + why);
            }
        }
        assertEquals("", String.join("\n", refused));
        assertTrue(commands.size() > 100, commands.size() + " commands");
    }

    private static List<Command> commands() throws IOException {
        List<Command> commands = new ArrayList<>();
        for (Page page : Page.all()) {
            for (Page.Block block : page.blocks()) {
                StringBuilder line = new StringBuilder();
                for (int i = 0; i < block.lines().size(); i++) {
                    String text = block.lines().get(i);
                    if (text.endsWith("\\")) {
                        line.append(text, 0, text.length() - 1).append(' ');
                        continue;
                    }
                    String all = line.append(text).toString();
                    commands.addAll(command(page.path() + ":" + (block.first() + i), all, !all.contains("...")));
                    line.setLength(0);
                }
            }
            for (Page.Line span : page.spans()) {
                commands.addAll(command(span.page() + ":" + span.number(), span.text(), false));
            }
        }
        return commands;
    }

    private static List<Command> command(String place, String text, boolean whole) {
        var matcher = COMMAND.matcher(text);
        return matcher.matches()
                ? List.of(new Command(place, matcher.group(1) == null ? "" : matcher.group(1), whole))
                : List.of();
    }

    /** Returns the parser's refusal, or null if the command passes. */
    private static String refusal(CommandLine parser, Command command) {
        List<String> words = words(command.text());
        while (!words.isEmpty() && JVM_OPTION.matcher(words.getFirst()).matches()) {
            words.removeFirst();
        }
        if (!words.isEmpty() && launched.contains(words.getFirst())) {
            return launcherRefusal(words);
        }
        try {
            parser.parseArgs(words.toArray(String[]::new));
            return null;
        } catch (MissingParameterException e) {
            return command.whole() ? e.getMessage() : null;
        } catch (ParameterException e) {
            String value = e.getValue();
            return value != null && PLACEHOLDER.matcher(value).matches() ? null : e.getMessage();
        }
    }

    private static String launcherRefusal(List<String> words) {
        if (!words.getFirst().equals("test")) {
            return null;
        }
        return words.stream()
                .filter(word -> word.startsWith("--") && !launcher.contains(word))
                .map(word -> "neither " + LAUNCHER + " nor " + RUNNER + " has " + word)
                .findFirst()
                .orElse(null);
    }

    /** Splits a text as a shell does; takes a synopsis's first alternatives, and its optional parts. */
    private static List<String> words(String text) {
        List<String> words = new ArrayList<>();
        for (MatchResult word : WORD.matcher(text).results().toList()) {
            String bare = word.group(3);
            if (bare == null) {
                words.add(word.group(1) != null ? word.group(1) : word.group(2));
                continue;
            }
            if (END.matcher(bare).matches()) {
                break;
            }
            String plain = bare.replaceAll("[\\[\\]]|\\.\\.\\.$", "");
            int other = plain.indexOf('|');
            plain = other < 0 ? plain : plain.substring(0, other);
            if (!plain.isEmpty()) {
                words.add(VALUES.getOrDefault(plain, plain));
            }
        }
        return words;
    }
}
