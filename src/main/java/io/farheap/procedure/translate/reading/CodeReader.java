package io.farheap.procedure.translate.reading;

import io.farheap.procedure.Call;
import io.farheap.procedure.translate.instruction.CallMethod;
import io.farheap.procedure.translate.instruction.Op;
import io.farheap.procedure.translate.instruction.Operands;
import io.farheap.procedure.translate.instruction.PureMethod;
import io.farheap.procedure.translate.instruction.RefusalMessages;
import io.farheap.procedure.translate.instruction.RefusedProcedureException;
import io.farheap.procedure.translate.instruction.StackEffects;
import io.farheap.procedure.translate.instruction.Type;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.Label;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.IncrementInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LineNumber;
import java.lang.classfile.instruction.LoadInstruction;
import java.lang.classfile.instruction.LookupSwitchInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.classfile.instruction.StoreInstruction;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.classfile.instruction.TableSwitchInstruction;
import java.lang.constant.ConstantDesc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads a method's code into admitted instructions, or refuses it. */
final class CodeReader {

    private static final String CALL = Call.class.getName().replace('.', '/');

    private final RefusalMessages refusal;
    private final String className;
    private final Map<String, Integer> methods;
    private final int locals;
    private final Map<Label, Integer> places = new HashMap<>();
    private int line;

    /** @param methods indices of the class's own methods, by name and descriptor */
    CodeReader(RefusalMessages refusal, String className, Map<String, Integer> methods, int locals) {
        this.refusal = refusal;
        this.className = className;
        this.methods = methods;
        this.locals = locals;
    }

    static List<Opcode> opcodes(CodeModel code) {
        List<Opcode> found = new ArrayList<>();
        for (CodeElement element : code) {
            if (element instanceof Instruction instruction) {
                found.add(instruction.opcode());
            }
        }
        return found;
    }

    /**
     * Reads the instructions.
     *
     * @param most number of instructions, at most
     */
    List<Op> read(CodeModel code, int most) {
        List<CodeElement> elements = new ArrayList<>();
        int count = 0;
        for (CodeElement element : code) {
            if (element instanceof LabelTarget target) {
                places.put(target.label(), count);
            } else if (element instanceof Instruction) {
                count++;
            }
            if (count > most) {
                throw refusal.of("it has more than " + most + " instructions and would be too large when translated");
            }
            elements.add(element);
        }
        List<Op> ops = new ArrayList<>(count);
        for (CodeElement element : elements) {
            if (element instanceof LineNumber number) {
                line = number.line();
            } else if (element instanceof Instruction instruction) {
                ops.add(op(instruction));
            }
        }
        int end = ops.size();
        for (Op op : ops) {
            for (int target : Op.targets(op)) {
                if (target >= end) {
                    throw refusal.at(op.line(), "a branch", "it leads behind the end of the method");
                }
            }
        }
        return ops;
    }

    private Op op(Instruction instruction) {
        return switch (instruction) {
            case LoadInstruction load -> new Op.Load(type(load, load.typeKind()), slot(load, load.slot()), line);
            case StoreInstruction store -> new Op.Store(type(store, store.typeKind()), slot(store, store.slot()), line);
            case IncrementInstruction by -> new Op.Increment(slot(by, by.slot()), by.constant(), line);
            case ConstantInstruction constant -> constant(constant);
            case BranchInstruction branch -> branch(branch);
            case TableSwitchInstruction table -> select(table, true, table.cases(), table.defaultTarget());
            case LookupSwitchInstruction lookup -> select(lookup, false, lookup.cases(), lookup.defaultTarget());
            case InvokeInstruction invoke -> invoke(invoke);
            case ReturnInstruction returns -> returns(returns);
            default -> plain(instruction);
        };
    }

    private Type type(Instruction instruction, java.lang.classfile.TypeKind kind) {
        Type type = Type.of(kind);
        if (type == null) {
            throw refused(instruction, "it is not in the subset");
        }
        return type;
    }

    private RefusedProcedureException refused(Instruction instruction, String rule) {
        return refusal.at(line, Names.name(instruction.opcode()), rule);
    }

    private int slot(Instruction instruction, int slot) {
        if (slot < 0 || slot >= locals) {
            throw refused(instruction, "local variable " + slot + "; the method declares " + locals);
        }
        return slot;
    }

    private Op constant(ConstantInstruction constant) {
        ConstantDesc value = constant.constantValue();
        Type type =
                switch (value) {
                    case Integer _ -> Type.INT;
                    case Long _ -> Type.LONG;
                    case Float _ -> Type.FLOAT;
                    case Double _ -> Type.DOUBLE;
                    default -> throw refused(constant, "constants are primitive");
                };
        return new Op.Push(type, value, line);
    }

    private Op branch(BranchInstruction branch) {
        if (StackEffects.of(branch.opcode()) == null) {
            throw refused(branch, "references are not compared");
        }
        return new Op.Jump(branch.opcode(), place(branch, branch.target()), line);
    }

    private int place(Instruction instruction, Label label) {
        Integer place = places.get(label);
        if (place == null) {
            throw refused(instruction, "it leads to no instruction");
        }
        return place;
    }

    private Op select(Instruction instruction, boolean table, List<SwitchCase> cases, Label otherwise) {
        int[] keys = new int[cases.size()];
        int[] targets = new int[cases.size() + 1];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = cases.get(i).caseValue();
            targets[i] = place(instruction, cases.get(i).target());
            if (i > 0 && keys[i] <= keys[i - 1]) {
                throw refused(instruction, "its keys are not in order");
            }
        }
        targets[keys.length] = place(instruction, otherwise);
        return new Op.Select(table, keys, targets, line);
    }

    private Op invoke(InvokeInstruction invoke) {
        String owner = invoke.owner().asInternalName();
        String name = invoke.name().stringValue();
        String descriptor = invoke.type().stringValue();
        if (invoke.opcode() == Opcode.INVOKEINTERFACE && owner.equals(CALL)) {
            CallMethod method = CallMethod.find(name, descriptor);
            if (method != null) {
                return new Op.ApiCall(method, line);
            }
        } else if (invoke.opcode() == Opcode.INVOKESTATIC && owner.equals(className)) {
            Integer own = methods.get(name.concat(descriptor));
            if (own != null) {
                return new Op.UserMethodCall(own, line);
            }
        } else if (invoke.opcode() == Opcode.INVOKESTATIC) {
            PureMethod method = PureMethod.find(owner, name, descriptor);
            if (method != null) {
                return new Op.PureMethodCall(method, line);
            }
        }
        throw refused(
                invoke,
                owner.replace('/', '.') + '.' + name + descriptor
                        + " is neither a method of Call, nor the class's own, nor on the list (docs/guide/procedures.md)");
    }

    private Op returns(ReturnInstruction returns) {
        if (returns.opcode() == Opcode.ARETURN) {
            throw refused(returns, "methods return primitives");
        }
        return new Op.Return(Type.of(returns.typeKind()), line);
    }

    private Op plain(Instruction instruction) {
        Opcode opcode = instruction.opcode();
        if (StackEffects.of(opcode) == null && !Operands.moves(opcode)) {
            throw refused(instruction, Names.rule(opcode));
        }
        return new Op.Plain(opcode, line);
    }

    /** Names and rules of instructions in refusals; loaded only for a refusal. */
    private static final class Names {

        static String name(Opcode opcode) {
            return opcode.name().toLowerCase(java.util.Locale.ROOT);
        }

        static String rule(Opcode opcode) {
            return switch (opcode.kind()) {
                case NEW_OBJECT -> "objects are not in the subset";
                case NEW_PRIMITIVE_ARRAY, NEW_REF_ARRAY, NEW_MULTI_ARRAY, ARRAY_LOAD, ARRAY_STORE ->
                    "arrays are not in the subset";
                case FIELD_ACCESS -> "fields are not in the subset";
                case INVOKE_DYNAMIC -> "lambdas and string concatenation (invokedynamic) are not in the subset";
                case MONITOR -> "monitors are not in the subset";
                case THROW_EXCEPTION -> "exceptions are not in the subset";
                default -> "it is not in the subset";
            };
        }
    }
}
