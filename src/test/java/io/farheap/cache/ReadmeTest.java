package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The README's example, compiled and run as it stands. */
class ReadmeTest {

    private static final Pattern EXAMPLE = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);

    @Test
    void theExampleWorks(@TempDir Path directory) throws Exception {
        Matcher matcher = EXAMPLE.matcher(Files.readString(Path.of("README.md")));
        assertTrue(matcher.find(), "README.md has a Java example");
        Path source = Files.writeString(directory.resolve("Example.java"), matcher.group(1));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        int result = compiler.run(
                null,
                messages,
                messages,
                "-d",
                directory.toString(),
                "-cp",
                System.getProperty("java.class.path"),
                source.toString());
        assertEquals(0, result, messages.toString(StandardCharsets.UTF_8));

        ByteArrayOutputStream output = new ByteArrayOutputStream();
        PrintStream standardOutput = System.out;
        try (Cluster cluster = new Cluster(16, 16);
                URLClassLoader loader = new URLClassLoader(
                        new URL[] {directory.toUri().toURL()}, getClass().getClassLoader())) {
            Method main = loader.loadClass("Example").getDeclaredMethod("main", String[].class);
            main.setAccessible(true);
            System.setOut(new PrintStream(output, true));
            main.invoke(null, (Object) cluster.addresses().toArray(String[]::new));
        } finally {
            System.setOut(standardOutput);
        }
        assertEquals(
                List.of("42"), output.toString(StandardCharsets.UTF_8).lines().toList());
    }
}
