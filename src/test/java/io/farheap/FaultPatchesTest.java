package io.farheap;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The patches of {@code src/test/faults} still apply, and the tests that they name exist. {@code plant --check all}
 * shows that these tests find the faults.
 */
class FaultPatchesTest {

    private static final Path FAULTS = Path.of("src/test/faults");
    private static final Path NATIVE_TESTS = Path.of("native/ibverbs/softverbs/tests/CMakeLists.txt");
    private static final String PATCH = ".patch";
    private static final String FOUND_BY = "found-by: ";

    static List<String> faults() throws IOException {
        try (Stream<Path> files = Files.list(FAULTS)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(PATCH))
                    .map(name -> name.substring(0, name.length() - PATCH.length()))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void thereIsOneOfEachKind() throws IOException {
        Set<String> kinds = new TreeSet<>(Set.of(
                "checksum-not-compared",
                "unfenced-write",
                "lease-never-ended",
                "stripe-word-released-early",
                "mark-before-copy",
                "lock-race"));
        kinds.removeAll(faults());
        assertEquals(Set.of(), kinds, "are not there");
    }

    /** The patch applies; in a copy in which {@code plant} has applied it, it can be reversed instead. */
    @ParameterizedTest
    @MethodSource("faults")
    void canBePlanted(String fault) throws Exception {
        String refused = refused(fault, false);
        assertTrue(
                refused.isEmpty() || refused(fault, true).isEmpty(),
                () -> fault + PATCH
                        + " does not apply any more: plant it anew in what the code has become, and see that"
                        + " src/test/faults/plant --check " + fault + " finds it. " + refused);
    }

    /** Returns why a patch does not apply, or an empty string if it does. */
    private static String refused(String fault, boolean reverse) throws IOException, InterruptedException {
        Path here = Path.of("").toAbsolutePath();
        Path file = here.resolve(FAULTS).resolve(fault + PATCH);
        ProcessBuilder builder = new ProcessBuilder(
                onPath("git")
                        ? List.of("git", "apply", "--check", reverse ? "--reverse" : "--no-reverse", file.toString())
                        : List.of(
                                "patch",
                                "--dry-run",
                                "--strip=1",
                                "--fuzz=0",
                                "--force",
                                reverse ? "--reverse" : "--forward",
                                "--input=" + file));
        // If the sources are in no repository, git must not take a parent directory's and look for files there.
        builder.environment().put("GIT_CEILING_DIRECTORIES", String.valueOf(here.getParent()));
        Process process = builder.redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return process.waitFor() == 0 ? "" : "It is refused: " + output;
    }

    private static boolean onPath(String command) {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":"))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, command)));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void isFoundByTestsThatThereAre(String fault) throws IOException {
        List<String> header = Files.readAllLines(FAULTS.resolve(fault + PATCH)).stream()
                .takeWhile(line -> !line.startsWith("diff "))
                .toList();
        List<String[]> finders = header.stream()
                .filter(line -> line.startsWith(FOUND_BY))
                .map(line -> line.substring(FOUND_BY.length()).split(" "))
                .toList();
        assertFalse(header.getFirst().isBlank() || header.getFirst().startsWith(FOUND_BY), "it says what is broken");
        assertFalse(finders.isEmpty(), "it says what finds it");
        for (String[] finder : finders) {
            switch (finder[0]) {
                case "library", "weak" -> Arrays.stream(finder).skip(1).forEach(FaultPatchesTest::assertShort);
                case "native" -> {
                    assertTrue(Set.of("release", "sanitized", "threads").contains(finder[1]), finder[1]);
                    Arrays.stream(finder).skip(2).forEach(FaultPatchesTest::assertNative);
                }
                default -> throw new AssertionError(finder[0] + " is none of library, weak, native");
            }
            assertTrue(finder.length > (finder[0].equals("native") ? 2 : 1), "a test is named");
        }
    }

    /** Checks that the short form of the tests runs this class, or Class#method. */
    private static void assertShort(String test) {
        String[] parts = test.split("#");
        Class<?> type = assertDoesNotThrow(() -> Class.forName(parts[0]), test);
        assertFalse(isFull(type.getAnnotationsByType(Tag.class)), test);
        if (parts.length > 1) {
            assertTrue(
                    Arrays.stream(type.getDeclaredMethods())
                            .anyMatch(method -> method.getName().equals(parts[1])
                                    && !isFull(method.getAnnotationsByType(Tag.class))),
                    test);
        }
    }

    private static boolean isFull(Tag... tags) {
        return Arrays.stream(tags).anyMatch(tag -> tag.value().equals("full"));
    }

    private static void assertNative(String test) {
        String text = assertDoesNotThrow(() -> Files.readString(NATIVE_TESTS));
        assertTrue(
                Pattern.compile("(softverbs_test\\(|add_test\\(NAME )" + Pattern.quote(test) + "\\b")
                        .matcher(text)
                        .find(),
                test);
    }
}
