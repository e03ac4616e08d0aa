package io.farheap.testing;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** Prints the tests that were not run and why, so that none is skipped silently; in the guest, also classes' times. */
public final class NotRunReport implements TestExecutionListener {

    private final List<String> notRun = Collections.synchronizedList(new ArrayList<>());
    private final Map<String, Long> started = new ConcurrentHashMap<>();

    @Override
    public void executionStarted(TestIdentifier test) {
        started.put(test.getUniqueId(), System.nanoTime());
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        notRun.add(name(test) + ": " + reason);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        long nanos = System.nanoTime() - started.remove(test.getUniqueId());
        if (TestDevice.inGuest() && test.getSource().orElse(null) instanceof ClassSource) {
            System.out.printf("%s took %.1f s%n", name(test), nanos / 1e9);
        }
        if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
            notRun.add(name(test) + ": "
                    + result.getThrowable().map(Throwable::getMessage).orElse("aborted"));
        }
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        synchronized (notRun) {
            // A fork runs one class at a time, and would report for each that all tests were run.
            if (!notRun.isEmpty()) {
                System.out.println("not run here: " + notRun.size()
                        + (notRun.size() == 1 ? " test or class" : " tests or classes"));
                notRun.forEach(line -> System.out.println("  " + line));
                notRun.clear();
            }
        }
    }

    private static String name(TestIdentifier test) {
        return test.getSource()
                .map(source -> switch (source) {
                    case ClassSource of -> of.getJavaClass().getSimpleName();
                    case MethodSource of -> of.getJavaClass().getSimpleName() + '.' + of.getMethodName();
                    default -> test.getDisplayName();
                })
                .orElse(test.getDisplayName());
    }
}
