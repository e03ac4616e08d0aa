package io.farheap.runner;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What {@code ./farheap test} was asked for.
 *
 * @param check only whether they make sense
 * @param pieces by name; empty for all
 * @param suites of the short form; empty for all
 * @param device soft, rxe, or empty for soft and a guest
 * @param json the file to write, or null
 */
record Arguments(
        boolean check,
        boolean full,
        boolean list,
        boolean again,
        List<String> pieces,
        List<Suite> suites,
        String device,
        Path json) {

    /** @throws IllegalArgumentException in one sentence */
    static Arguments parse(String[] words) {
        boolean check = false;
        boolean full = false;
        boolean list = false;
        boolean again = false;
        List<String> pieces = List.of();
        List<Suite> suites = new ArrayList<>();
        String device = "";
        Path json = null;
        for (int i = 0; i < words.length; i++) {
            switch (words[i]) {
                case "--check" -> check = true;
                case "--full" -> full = true;
                case "--list" -> list = true;
                case "--again" -> again = true;
                case "--piece" -> pieces = names(value(words, ++i, "names of pieces, which --full --list prints"));
                case "--suite" ->
                    names(value(words, ++i, "names of suites")).forEach(name -> suites.add(Suite.named(name)));
                case "--device" -> device = value(words, ++i, "soft or rxe");
                case "--json" -> json = file(value(words, ++i, "a file"));
                default ->
                    throw new IllegalArgumentException(
                            "test takes --full (with --list, --piece A,B, --again), --suite A,B,"
                                    + " --device soft or rxe, --busy N, --json FILE, or one of --histories, --calls, --batches, --kills,"
                                    + " --store-kills, --power-cuts and --stops with N; and not " + words[i]);
            }
        }
        if (!full && (list || again || !pieces.isEmpty())) {
            throw new IllegalArgumentException(
                    (list ? "--list" : again ? "--again" : "--piece") + " is for pieces of the full form: add --full");
        }
        if (full && !suites.isEmpty()) {
            throw new IllegalArgumentException("--suite is for the short form: take --piece with --full");
        }
        if (!List.of("", "soft", "rxe").contains(device)) {
            throw new IllegalArgumentException("there is no device " + device + " to test; there are soft and rxe");
        }
        if (device.equals("rxe") && (full || !suites.isEmpty())) {
            throw new IllegalArgumentException(
                    "--device rxe runs all that can run there: leave --full and --suite out");
        }
        if (device.equals("soft") && suites.contains(Suite.GUEST)) {
            throw new IllegalArgumentException("the suite guest is not on the device soft: leave one of the two out");
        }
        return new Arguments(check, full, list, again, pieces, List.copyOf(suites), device, json);
    }

    private static List<String> names(String list) {
        List<String> names = Arrays.stream(list.split(",")).distinct().toList();
        if (names.isEmpty() || names.contains("")) {
            throw new IllegalArgumentException("a name is missing in '" + list + "': give them as A,B");
        }
        return names;
    }

    /** Relative to where the launcher was called, and in a directory that is there. */
    private static Path file(String name) {
        Path file = Path.of(System.getProperty("farheap.directory", ""))
                .resolve(name)
                .toAbsolutePath();
        if (!Files.isDirectory(file.getParent()) || Files.isDirectory(file)) {
            throw new IllegalArgumentException("--json " + name + ": there is no directory for that file");
        }
        return file;
    }

    private static String value(String[] words, int at, String what) {
        if (at >= words.length) {
            throw new IllegalArgumentException(words[at - 1] + " needs " + what);
        }
        return words[at];
    }
}
