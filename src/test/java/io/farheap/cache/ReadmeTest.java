package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.server.contract.ServedCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The README's examples, compiled and run as they stand. */
class ReadmeTest {

    private static final Pattern EXAMPLE = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);

    @TempDir
    private Path directory;

    @Test
    void theExampleWorks() throws Exception {
        try (Cluster cluster = new Cluster(16, 16)) {
            assertEquals(List.of("42"), run(cluster, "Example"));
        }
    }

    @ParameterizedTest
    @EnumSource(ServedCode.class)
    void theProcedureWorks(ServedCode served) throws Exception {
        try (Cluster cluster = new Cluster().serving(served)) {
            cluster.add(16);
            cluster.serving(ServedCode.JAVA).add(16);
            assertEquals(List.of("50"), run(cluster, "Amounts", "SumSince"));
        }
    }

    /** @return what the first of some classes prints */
    private List<String> run(Cluster cluster, String... classes) throws Exception {
        List<String> arguments =
                new ArrayList<>(List.of("-d", directory.toString(), "-cp", System.getProperty("java.class.path")));
        for (String name : classes) {
            arguments.add(Files.writeString(directory.resolve(name + ".java"), example(name))
                    .toString());
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        int result = compiler.run(null, messages, messages, arguments.toArray(String[]::new));
        assertEquals(0, result, messages.toString(StandardCharsets.UTF_8));

        ByteArrayOutputStream output = new ByteArrayOutputStream();
        PrintStream standardOutput = System.out;
        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {directory.toUri().toURL()}, getClass().getClassLoader())) {
            Method main = loader.loadClass(classes[0]).getDeclaredMethod("main", String[].class);
            main.setAccessible(true);
            System.setOut(new PrintStream(output, true));
            main.invoke(null, (Object) cluster.addresses().toArray(String[]::new));
        } finally {
            System.setOut(standardOutput);
        }
        return output.toString(StandardCharsets.UTF_8).lines().toList();
    }

    /** The one block of Java that has a class. */
    private static String example(String name) throws IOException {
        List<String> found = EXAMPLE.matcher(Files.readString(Path.of("README.md")))
                .results()
                .map(match -> match.group(1))
                .filter(block -> block.contains("class " + name + " {"))
                .toList();
        assertEquals(1, found.size(), "README.md has one example with class " + name);
        return found.getFirst();
    }
}
