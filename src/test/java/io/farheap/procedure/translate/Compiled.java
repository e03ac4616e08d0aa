package io.farheap.procedure.translate;

import io.farheap.procedure.Call;
import io.farheap.procedure.translate.running.Translation;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** A class as javac makes it: for the translator as bytes, and loaded as the plain Java that it is. */
public final class Compiled {

    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();
    /** Shared by all compilations, because opening the JDK's modules takes longer than compiling a class. */
    private static final StandardJavaFileManager FILES = COMPILER.getStandardFileManager(null, null, null);
    /** The library and its tests. */
    private static final String CLASS_PATH = Stream.of(Call.class, Compiled.class)
            .map(type ->
                    type.getProtectionDomain().getCodeSource().getLocation().getPath())
            .collect(Collectors.joining(File.pathSeparator));

    final byte[] bytes;
    private final MethodHandle run;

    private Compiled(byte[] bytes, MethodHandle run) {
        this.bytes = bytes;
        this.run = run;
    }

    /** A class {@code P} with these members, which begin at line 1. */
    static Compiled members(String members) {
        return source("P", "import io.farheap.procedure.Call; public final class P {" + members + "}");
    }

    /** A class {@code P} whose {@code run(Call call)} has this body. */
    public static Compiled body(String body) {
        return members("public static int run(Call call) {" + body + "}");
    }

    static Compiled source(String name, String source) {
        byte[] bytes = bytes(name, source);
        ClassLoader loader = new ClassLoader(Compiled.class.getClassLoader()) {
            @Override
            protected Class<?> findClass(String wanted) throws ClassNotFoundException {
                if (!wanted.equals(name)) {
                    throw new ClassNotFoundException(wanted);
                }
                return defineClass(wanted, bytes, 0, bytes.length);
            }
        };
        try {
            return new Compiled(
                    bytes,
                    MethodHandles.publicLookup()
                            .findStatic(loader.loadClass(name), "run", MethodType.methodType(int.class, Call.class)));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(source, e);
        }
    }

    /** Loads a class of this package as a hidden class, so that its name need not be unique. */
    static Compiled bytes(byte[] bytes) {
        try {
            MethodHandles.Lookup hidden = MethodHandles.lookup().defineHiddenClass(bytes, true);
            return new Compiled(
                    bytes,
                    hidden.findStatic(hidden.lookupClass(), "run", MethodType.methodType(int.class, Call.class)));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("the class cannot be loaded", e);
        }
    }

    /** A class of this class path. */
    public static Compiled of(Class<?> type) {
        String file = type.getName().substring(type.getPackageName().length() + 1) + ".class";
        try (InputStream in = type.getResourceAsStream(file)) {
            return new Compiled(
                    Objects.requireNonNull(in, file).readAllBytes(),
                    MethodHandles.publicLookup().findStatic(type, "run", MethodType.methodType(int.class, Call.class)));
        } catch (IOException | ReflectiveOperationException e) {
            throw new AssertionError(file, e);
        }
    }

    /** The bytes of the class alone, without its nested classes. */
    static synchronized byte[] bytes(String name, String source) {
        Map<String, ByteArrayOutputStream> made = new TreeMap<>();
        JavaFileObject file =
                new SimpleJavaFileObject(
                        URI.create("string:///" + name.replace('.', '/') + ".java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        JavaFileManager manager = new ForwardingJavaFileManager<>(FILES) {
            @Override
            public JavaFileObject getJavaFileForOutput(
                    Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
                return new SimpleJavaFileObject(URI.create("bytes:///" + className + ".class"), kind) {
                    @Override
                    public OutputStream openOutputStream() {
                        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                        made.put(className, bytes);
                        return bytes;
                    }
                };
            }
        };
        List<String> options = List.of("-g", "-proc:none", "-nowarn", "-classpath", CLASS_PATH);
        boolean done = COMPILER.getTask(null, manager, null, options, null, List.of(file))
                .call();
        if (!done) {
            throw new AssertionError("it does not compile: " + source);
        }
        return made.get(name).toByteArray();
    }

    public int run(Call call) {
        try {
            return (int) run.invokeExact(call);
        } catch (Error | RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    public Translation translated() {
        return Translator.translate(bytes, Translator.Limits.DEFAULT);
    }
}
