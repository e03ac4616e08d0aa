package io.farheap.runner;

import java.util.List;

/**
 * What became of an item.
 *
 * @param results of each class or test that ran or should have
 * @param notRun what skipped itself, with its reason
 * @param rest what takes up the tests that an item did not come to, because its JVM ended before
 */
record Outcome(List<Result> results, List<String> notRun, List<Item> rest) {

    static final Outcome NOTHING = new Outcome(List.of(), List.of(), List.of());

    static Outcome of(Result result) {
        return new Outcome(List.of(result), List.of(), List.of());
    }
}
