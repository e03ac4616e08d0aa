package io.farheap.soak;

import io.farheap.cache.Cache;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BiFunction;
import java.util.function.IntPredicate;
import java.util.function.ObjIntConsumer;
import java.util.function.Predicate;

/** Who uses a coded cache: a worker for each session, and one that reads all of it when they have ended. */
final class CodedLoad {

    /** A way to use it. */
    record User(String name, BiFunction<Cache, ObjIntConsumer<SoakRequest>, CacheClient> opener) {}

    static final User ASYNCHRONOUS = new User("asynchronous session", SessionClient::new);
    static final User BLOCKING = new User("blocking session", BlockingClient::new);
    static final User FUTURES = new User("futures", FutureClient::new);

    private final WorkerLayout layout;
    private final List<Worker> workers = new ArrayList<>();
    private final Worker checker;

    /**
     * @param mayBeLost whether a part may be lost for good
     * @param mayEnd whether a request may end with this status now, which is not OK
     */
    CodedLoad(
            Cache cache,
            List<User> users,
            Predicate<CachePart> mayBeLost,
            IntPredicate mayEnd,
            SplittableRandom random,
            WaitTimes waits,
            Problems problems) {
        layout = new WorkerLayout(cache.capacity(), users.size(), random.split());
        for (int number = 0; number < users.size(); number++) {
            User user = users.get(number);
            workers.add(new Worker(
                    user.name() + " of a coded cache",
                    cache,
                    finished -> user.opener().apply(cache, finished),
                    new RandomRequests(layout.share(number), layout.words(), random.split()),
                    mayBeLost,
                    mayEnd,
                    random.split(),
                    waits,
                    problems));
        }
        checker = new Worker(
                "the check of a coded cache",
                cache,
                finished -> new BlockingClient(cache, finished),
                new RandomRequests(layout.share(0), layout.words(), random.split()),
                mayBeLost,
                mayEnd,
                random.split(),
                waits,
                problems);
    }

    List<Worker> workers() {
        return workers;
    }

    /** Nobody uses it any more: reads and checks all of it. */
    void check() {
        checker.check(layout.all());
    }

    /** Of parts that could not be read any more. */
    long bytesLost() {
        return layout.all().stream()
                .filter(CachePart::lost)
                .mapToLong(CachePart::bytes)
                .sum();
    }
}
