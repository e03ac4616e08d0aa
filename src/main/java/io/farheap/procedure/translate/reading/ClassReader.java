package io.farheap.procedure.translate.reading;

import io.farheap.procedure.translate.instruction.Op;
import io.farheap.procedure.translate.instruction.RefusalMessages;
import io.farheap.procedure.translate.instruction.RefusedProcedureException;
import io.farheap.procedure.translate.instruction.Type;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * Reads the bytes of a class file into its methods, and checks the rules for classes. It does not verify types within
 * methods.
 */
public final class ClassReader {

    private static final String RUN = "run(Lio/farheap/procedure/Call;)I";
    private static final int MOST_METHODS = 256;
    private static final int MOST_PARAMETERS = 32;
    private static final int MOST_LOCALS = 256;
    private static final String CONSTRUCTOR_RULE = "a constructor must be empty and have no parameters";

    private final ClassModel model;
    private final String name;
    private final RefusalMessages refusal;
    private final int mostOps;
    private final Map<String, Integer> indices = new HashMap<>();

    private ClassReader(ClassModel model, int mostOps) {
        this.model = model;
        this.name = model.thisClass().asInternalName();
        this.refusal = new RefusalMessages(name.replace('/', '.'));
        this.mostOps = mostOps;
    }

    /**
     * Reads a class.
     *
     * @param mostOps most instructions of all methods together
     * @throws RefusedProcedureException if a rule is broken
     */
    public static ProcedureClass read(byte[] bytes, int mostOps) {
        try {
            ClassFile.Option[] options = {
                ClassFile.DebugElementsOption.DROP_DEBUG, ClassFile.StackMapsOption.DROP_STACK_MAPS
            };
            return of(ClassFile.of(options).parse(bytes), mostOps);
        } catch (RefusedProcedureException e) {
            throw e;
        } catch (RuntimeException | StackOverflowError e) {
            // The parser reads lazily, and throws many kinds of exceptions if bytes are not a class file.
            throw new RefusedProcedureException("the bytes are not a class file that can be read: "
                    + RefusalMessages.printable(String.valueOf(e.getMessage())));
        }
    }

    private static ProcedureClass of(ClassModel model, int mostOps) {
        ClassReader reader = new ClassReader(model, mostOps);
        try {
            return reader.read();
        } catch (RefusedProcedureException e) {
            throw e;
        } catch (RuntimeException e) {
            OptionalInt line = SwitchScan.find(model);
            throw line.isEmpty()
                    ? e
                    : reader.refusal.at(
                            line.getAsInt(),
                            "tableswitch",
                            "a switch goes up to Integer.MAX_VALUE; write its last case as an if");
        }
    }

    private ProcedureClass read() {
        checkClass();
        model.fields().forEach(this::checkField);
        List<MethodModel> kept = new ArrayList<>();
        for (MethodModel method : model.methods()) {
            String key = key(method);
            if (method.methodName().equalsString("<init>")) {
                checkConstructor(method);
            } else {
                checkMethod(method);
                if (indices.put(key, kept.size()) != null) {
                    throw refusal.of(key, "there are two of it");
                }
                kept.add(method);
            }
        }
        if (kept.size() > MOST_METHODS) {
            throw refusal.of(kept.size() + " methods; at most " + MOST_METHODS);
        }
        Integer run = indices.get(RUN);
        if (run == null) {
            throw refusal.of("there is no static int run(io.farheap.procedure.Call)");
        }
        // A method's signature is known before the methods that call it are read.
        List<UserMethod> methods = new ArrayList<>();
        int ops = 0;
        for (MethodModel method : kept) {
            UserMethod read = method(method, mostOps - ops);
            ops += read.ops().size();
            methods.add(read);
        }
        return new ProcedureClass(refusal.className(), methods, run);
    }

    private void checkClass() {
        if (model.flags().has(AccessFlag.INTERFACE) || model.flags().has(AccessFlag.MODULE)) {
            throw refusal.of("a procedure is a class, not an interface");
        }
        String parent = model.superclass().map(entry -> entry.asInternalName()).orElse("none");
        if (!parent.equals("java/lang/Object")) {
            throw refusal.of(
                    "its superclass is " + RefusalMessages.printable(parent) + "; it must be java.lang.Object");
        }
        if (!model.interfaces().isEmpty()) {
            throw refusal.of("it implements an interface; it must not");
        }
    }

    private void checkField(FieldModel field) {
        boolean constant = field.flags().has(AccessFlag.STATIC)
                && field.flags().has(AccessFlag.FINAL)
                && field.fieldTypeSymbol().isPrimitive()
                && field.findAttribute(Attributes.constantValue()).isPresent();
        if (!constant) {
            throw refusal.of(
                    "field " + RefusalMessages.printable(field.fieldName().stringValue())
                            + ": fields are not in the subset, but for static final primitive constants");
        }
    }

    private static String key(MethodModel method) {
        // No string concatenation for a class that is admitted: the first one in a process takes milliseconds.
        return method.methodName().stringValue().concat(method.methodType().stringValue());
    }

    private void checkConstructor(MethodModel method) {
        CodeModel code = method.code().orElse(null);
        if (code == null || !method.methodType().equalsString("()V")) {
            throw refusal.of(key(method), CONSTRUCTOR_RULE);
        }
        List<Opcode> found = CodeReader.opcodes(code);
        if (!found.equals(List.of(Opcode.ALOAD_0, Opcode.INVOKESPECIAL, Opcode.RETURN))) {
            throw refusal.of(key(method), CONSTRUCTOR_RULE);
        }
    }

    private void checkMethod(MethodModel method) {
        String key = key(method);
        if (key.startsWith("<")) {
            throw refusal.of(key, "initialisers are not in the subset");
        }
        if (!method.flags().has(AccessFlag.STATIC)) {
            throw refusal.of(key, "it must be static");
        }
        for (AccessFlag flag : List.of(AccessFlag.SYNCHRONIZED, AccessFlag.NATIVE, AccessFlag.ABSTRACT)) {
            if (method.flags().has(flag)) {
                throw refusal.of(key, "it must not be " + flag.name().toLowerCase(java.util.Locale.ROOT));
            }
        }
        MethodTypeDesc type = method.methodTypeSymbol();
        for (ClassDesc parameter : type.parameterList()) {
            if (Type.of(parameter) == null) {
                throw refusal.of(
                        key, "a parameter is a " + parameter.displayName() + "; it must be primitive, or Call");
            }
        }
        if (!type.returnType().isPrimitive()) {
            throw refusal.of(
                    key, "it returns a " + type.returnType().displayName() + "; it must be primitive, or void");
        }
        if (type.parameterCount() > MOST_PARAMETERS) {
            throw refusal.of(key, type.parameterCount() + " parameters; at most " + MOST_PARAMETERS);
        }
    }

    private UserMethod method(MethodModel method, int most) {
        CodeModel code = method.code().orElse(null);
        String key = key(method);
        if (code == null) {
            throw refusal.of(key, "it has no code");
        }
        if (!code.exceptionHandlers().isEmpty()) {
            throw refusal.of(key, "try, catch and synchronized are not in the subset");
        }
        int locals = method.findAttribute(Attributes.code())
                .map(attribute -> attribute.maxLocals())
                .orElse(0);
        if (locals > MOST_LOCALS) {
            throw refusal.of(key, locals + " words of local variables; at most " + MOST_LOCALS);
        }
        MethodTypeDesc type = method.methodTypeSymbol();
        List<Type> parameters = new ArrayList<>();
        type.parameterList().forEach(parameter -> parameters.add(java.util.Objects.requireNonNull(Type.of(parameter))));
        List<Op> ops = new CodeReader(refusal, name, indices, locals).read(code, most);
        return new UserMethod(
                key, List.copyOf(parameters), Type.of(type.returnType()), narrowing(type.returnType()), locals, ops);
    }

    private static List<Opcode> narrowing(ClassDesc type) {
        return switch (type.descriptorString()) {
            case "Z" -> List.of(Opcode.ICONST_1, Opcode.IAND);
            case "B" -> List.of(Opcode.I2B);
            case "C" -> List.of(Opcode.I2C);
            case "S" -> List.of(Opcode.I2S);
            default -> List.of();
        };
    }
}
