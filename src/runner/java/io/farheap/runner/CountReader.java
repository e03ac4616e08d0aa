package io.farheap.runner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Counts tests by the lines of a command's output.
 *
 * @param passed a pattern whose first group is a number of tests that passed, or without a group: one a line
 * @param failed likewise
 * @param skipped likewise
 */
record CountReader(String test, Pattern passed, Pattern failed, Pattern skipped) implements OutcomeReader {

    /** JUnit's console, in a guest. */
    static CountReader ofConsole(String test) {
        return new CountReader(
                test,
                Pattern.compile("\\[ +(\\d+) tests successful +\\]"),
                Pattern.compile("\\[ +(\\d+) (?:tests|containers) failed +\\]"),
                Pattern.compile("\\[ +(\\d+) tests (?:skipped|aborted) +\\]"));
    }

    /** jcstress: how many there are of each kind, at its end. */
    static CountReader ofJcstress(String test) {
        return new CountReader(
                test,
                Pattern.compile("(?:All remaining|Interesting) tests: (\\d+) matching"),
                Pattern.compile("(?:Failed|Error) tests: (\\d+) matching"),
                Pattern.compile("(?!)"));
    }

    @Override
    public Outcome read(Path scratch, Ending ending) {
        int ofPassed = count(scratch, passed);
        int ofFailed = count(scratch, failed);
        String failure = "";
        if (ofFailed > 0 || !ending.passed()) {
            failure = ending.how() + "\n" + ending.said();
            ofFailed = Math.max(1, ofFailed);
        } else if (ofPassed == 0) {
            failure = "it ran no test\n" + ending.said();
            ofFailed = 1;
        }
        Result result = new Result(
                test, ofPassed, ofFailed, count(scratch, skipped), ending.seconds(), ending.cpuSeconds(), failure);
        return new Outcome(List.of(result), notRun(scratch), List.of());
    }

    /** What a listener of the tests prints behind a line of its own. */
    private static List<String> notRun(Path scratch) {
        List<String> found = new ArrayList<>();
        try (Stream<String> lines = Files.lines(scratch.resolve("output"), StandardCharsets.ISO_8859_1)) {
            boolean[] listed = {false};
            lines.forEach(line -> {
                if (listed[0] && line.startsWith("  ")) {
                    found.add(line.strip());
                } else {
                    listed[0] = line.startsWith("not run here:");
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    private static int count(Path scratch, Pattern pattern) {
        try (Stream<String> lines = Files.lines(scratch.resolve("output"), StandardCharsets.ISO_8859_1)) {
            List<Matcher> found =
                    lines.map(pattern::matcher).filter(Matcher::find).toList();
            return found.stream()
                    .mapToInt(one -> one.groupCount() > 0 ? Integer.parseInt(one.group(1)) : 1)
                    .sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
