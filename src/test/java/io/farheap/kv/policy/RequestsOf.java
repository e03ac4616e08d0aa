package io.farheap.kv.policy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** Sequences of keys that tests request. */
final class RequestsOf {

    private RequestsOf() {}

    /** @return skewed keys, and now and then loops over other keys, so that recency and frequency disagree */
    static int[] mixed(int requests, int keys, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int[] all = new int[requests];
        int loop = 0;
        for (int i = 0; i < requests; i++) {
            if (i / (keys * 2) % 3 == 2 && random.nextInt(4) > 0) {
                all[i] = keys + loop++ % keys;
            } else {
                all[i] = (int) Math.pow(keys, random.nextDouble()) - 1;
            }
        }
        return all;
    }

    /** @return the first keys of a file that has one key in each line */
    static int[] file(String name, int most) {
        try (Stream<String> lines = Files.lines(Path.of(name))) {
            return lines.limit(most).mapToInt(Integer::parseInt).toArray();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the trace " + name, e);
        }
    }
}
