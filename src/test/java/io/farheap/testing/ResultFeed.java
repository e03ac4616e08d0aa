package io.farheap.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.commons.util.ExceptionUtils;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Reports to {@code ./farheap test} the events of this JVM's tests as they happen: it writes lines, which
 * {@code io.farheap.runner.Feed} describes and reads, into the file that the property {@code farheap.feed} names.
 * Without the property it does nothing.
 */
public final class ResultFeed implements TestExecutionListener {

    private static final int STACK_CHARACTERS = 8000;

    private record Start(long nanos, long cpuTicks) {}

    private final Path file;
    private final Map<String, Start> classes = new ConcurrentHashMap<>();

    /** Made by JUnit. */
    public ResultFeed() {
        String name = System.getProperty("farheap.feed");
        file = name == null ? null : Path.of(name);
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (file != null && isTopLevelClass(test)) {
            begin(className(test));
        }
    }

    private void begin(String name) {
        classes.put(name, new Start(System.nanoTime(), cpuTicks()));
        write("begin", name);
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        if (file == null) {
            return;
        }
        String name = className(test);
        if (isTopLevelClass(test)) {
            begin(name);
        }
        write("test", name, caseName(test), "skipped", reason);
        if (isTopLevelClass(test)) {
            end(name);
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (file == null) {
            return;
        }
        String name = className(test);
        switch (result.getStatus()) {
            case SUCCESSFUL -> {
                if (test.isTest()) {
                    write("test", name, caseName(test), "passed", "");
                }
            }
            case ABORTED -> write("test", name, caseName(test), "skipped", reason(result));
            case FAILED -> write("test", name, caseName(test), "failed", stack(result));
        }
        if (isTopLevelClass(test)) {
            end(name);
        }
    }

    private void end(String name) {
        Start start = classes.remove(name);
        long millis = (System.nanoTime() - start.nanos) / 1_000_000;
        write("end", name, Long.toString(millis), Long.toString((cpuTicks() - start.cpuTicks) * 10));
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        if (file != null) {
            write("finished");
        }
    }

    private static String reason(TestExecutionResult result) {
        return result.getThrowable().map(Throwable::getMessage).orElse("aborted");
    }

    private static String stack(TestExecutionResult result) {
        String stack = result.getThrowable().map(ExceptionUtils::readStackTrace).orElse("no exception");
        return stack.length() > STACK_CHARACTERS ? stack.substring(0, STACK_CHARACTERS) + "..." : stack;
    }

    /** Processor time of this process and of the children that it has waited for, in ticks of 10 ms. */
    private static long cpuTicks() {
        try {
            String line = Files.readString(Path.of("/proc/self/stat"));
            String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
            long ticks = 0;
            for (int i = 11; i < 15; i++) {
                ticks += Long.parseLong(fields[i]);
            }
            return ticks;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether this is a class directly below the engine; a class's invocations also have it as their source. */
    private static boolean isTopLevelClass(TestIdentifier test) {
        return test.getSource().orElse(null) instanceof ClassSource
                && test.getUniqueIdObject().getSegments().size() == 2;
    }

    /** The top-level class of a test or container; for the engine itself, its name. */
    private static String className(TestIdentifier test) {
        TestSource source = test.getSource().orElse(null);
        String name = source instanceof ClassSource of
                ? of.getClassName()
                : source instanceof MethodSource of ? of.getClassName() : test.getDisplayName();
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }

    private static String caseName(TestIdentifier test) {
        if (!(test.getSource().orElse(null) instanceof MethodSource of)) {
            return test.getDisplayName();
        }
        String method = of.getMethodName();
        return test.getDisplayName().startsWith(method) ? test.getDisplayName() : method + " " + test.getDisplayName();
    }

    private synchronized void write(String... fields) {
        StringBuilder line = new StringBuilder();
        for (String field : fields) {
            if (!line.isEmpty()) {
                line.append('\t');
            }
            line.append(field.replace("\\", "\\\\")
                    .replace("\t", "\\t")
                    .replace("\n", "\\n")
                    .replace("\r", ""));
        }
        byte[] bytes = line.append('\n').toString().getBytes(StandardCharsets.UTF_8);
        try {
            Files.write(file, bytes, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
