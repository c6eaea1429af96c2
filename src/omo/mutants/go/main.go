// Prints the edits that make mutants of a Go file: go run main.go 0-120,300-420 < file.go
//
// The argument has the bytes of the changed lines. Each edit leaves a file that parses, and one that builds as far as
// one file can tell: what a call or a return used is still used.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
)

type edit struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`
	Kind  string `json:"kind"`
}

type maker struct {
	source  string
	file    *token.File
	changed [][2]int
	info    types.Info
	decl    ast.Decl
	edits   []edit
}

var moved = map[token.Token][2]string{
	token.LSS: {"comparison", "<="}, token.LEQ: {"comparison", "<"}, token.GTR: {"comparison", ">="},
	token.GEQ: {"comparison", ">"}, token.EQL: {"comparison", "!="}, token.NEQ: {"comparison", "=="},
	token.LAND: {"boolean", "||"}, token.LOR: {"boolean", "&&"},
	token.ADD: {"arithmetic", "-"}, token.SUB: {"arithmetic", "+"},
	token.MUL: {"arithmetic", "/"}, token.QUO: {"arithmetic", "*"},
	token.ADD_ASSIGN: {"arithmetic", "-="}, token.SUB_ASSIGN: {"arithmetic", "+="},
	token.MUL_ASSIGN: {"arithmetic", "/="}, token.QUO_ASSIGN: {"arithmetic", "*="},
}

var (
	number = regexp.MustCompile(`^(u?int(8|16|32|64|ptr)?|byte|rune|float(32|64)|complex(64|128))$`)
	isNil  = regexp.MustCompile(`^(error|any|\*.*|\[\].*|map\[.*|chan .*|<-chan.*|func\(.*|interface\s*\{.*)$`)
)

func main() {
	source, err := io.ReadAll(os.Stdin)
	stop(err)
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "the file", source, parser.SkipObjectResolution)
	stop(err)
	m := maker{source: string(source), file: files.File(file.Pos()), edits: []edit{}}
	for _, pair := range strings.FieldsFunc(os.Args[1], func(r rune) bool { return r == ',' }) {
		var start, end int
		_, err := fmt.Sscanf(pair, "%d-%d", &start, &end)
		stop(err)
		m.changed = append(m.changed, [2]int{start, end})
	}
	m.info.Types = map[ast.Expr]types.TypeAndValue{}
	// Other files of the package are not here, so most types that are not of this file stay unknown.
	config := types.Config{Error: func(error) {}}
	config.Check("p", files, []*ast.File{file}, &m.info)
	for _, decl := range file.Decls {
		m.decl = decl
		m.walk(decl, nil)
	}
	stop(json.NewEncoder(os.Stdout).Encode(map[string][]edit{"edits": m.edits}))
}

func stop(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (m *maker) walk(root ast.Node, results *ast.FieldList) {
	ast.Inspect(root, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				m.walk(n.Body, n.Type.Results)
			}
			return false
		case *ast.FuncLit:
			m.walk(n.Body, n.Type.Results)
			return false
		case *ast.IfStmt:
			m.condition(n.Cond)
		case *ast.ForStmt:
			if n.Cond != nil {
				m.condition(n.Cond)
			}
		case *ast.BinaryExpr:
			if n.Op != token.ADD || m.isNumber(n.X) || m.isNumber(n.Y) {
				m.operator(n.OpPos, n.Op)
			}
		case *ast.AssignStmt:
			if n.Tok != token.ADD_ASSIGN || m.isNumber(n.Lhs[0]) || m.isNumber(n.Rhs[0]) {
				m.operator(n.TokPos, n.Tok)
			}
		case *ast.BlockStmt:
			m.calls(n.List)
		case *ast.CaseClause:
			m.calls(n.Body)
		case *ast.CommClause:
			m.calls(n.Body)
		case *ast.ReturnStmt:
			m.results(n, results)
		}
		return true
	})
}

func (m *maker) condition(test ast.Expr) {
	// A lone == or != is negated by moving it.
	if binary, ok := test.(*ast.BinaryExpr); ok && (binary.Op == token.EQL || binary.Op == token.NEQ) {
		return
	}
	m.replace("condition", test.Pos(), test.End(), "!("+m.text(test)+")")
}

func (m *maker) operator(pos token.Pos, op token.Token) {
	if to, ok := moved[op]; ok {
		m.replace(to[0], pos, pos+token.Pos(len(op.String())), to[1])
	}
}

// calls drops each call that is a statement. A function may have to end in panic, so that stays.
func (m *maker) calls(statements []ast.Stmt) {
	for _, statement := range statements {
		expression, ok := statement.(*ast.ExprStmt)
		if !ok {
			continue
		}
		if call, ok := expression.X.(*ast.CallExpr); ok && m.text(call.Fun) != "panic" {
			m.replace("call", call.Pos(), call.End(), "if false { "+m.text(call)+" }")
		}
	}
}

// results changes one of the values that a return gives: a number, true or false, else to the zero of its type.
func (m *maker) results(statement *ast.ReturnStmt, results *ast.FieldList) {
	var kinds []string
	if results != nil {
		for _, field := range results.List {
			kinds = append(kinds, m.text(field.Type))
			for more := 1; more < len(field.Names); more++ {
				kinds = append(kinds, m.text(field.Type))
			}
		}
	}
	if len(kinds) != len(statement.Results) {
		return
	}
	for at, value := range statement.Results {
		text, zero := m.text(value), zeroOf(kinds[at])
		literal, isComposite := value.(*ast.CompositeLit)
		if whole, err := strconv.Atoi(text); err == nil {
			m.replace("return", value.Pos(), value.End(), strconv.Itoa(whole+1))
		} else if text == "true" || text == "false" {
			m.replace("return", value.Pos(), value.End(), strconv.FormatBool(text == "false"))
		} else if kinds[at] == "bool" {
			m.replace("return", value.Pos(), value.End(), "!("+text+")")
		} else if text != zero && text != "nil" && text != `""` && !(isComposite && len(literal.Elts) == 0 && !isNil.MatchString(kinds[at])) {
			rest := m.source[m.offset(statement.Pos()):m.offset(value.Pos())] + zero
			m.replace("return", statement.Pos(), value.End(), "_ = "+text+"; "+rest)
		}
	}
}

func zeroOf(kind string) string {
	switch {
	case number.MatchString(kind):
		return "0"
	case kind == "string":
		return `""`
	case isNil.MatchString(kind):
		return "nil"
	}
	return "*new(" + kind + ")"
}

func (m *maker) isNumber(value ast.Expr) bool {
	of := m.info.TypeOf(value)
	if of == nil {
		return false
	}
	basic, ok := of.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsNumeric != 0
}

func (m *maker) offset(pos token.Pos) int { return m.file.Offset(pos) }

func (m *maker) text(node ast.Node) string {
	return m.source[m.offset(node.Pos()):m.offset(node.End())]
}

func (m *maker) replace(kind string, from, to token.Pos, text string) {
	start, end := m.offset(from), m.offset(to)
	for _, lines := range m.changed {
		if start < lines[1] && end > lines[0] {
			declaration := "package p\n" + m.source[m.offset(m.decl.Pos()):start] + text + m.source[end:m.offset(m.decl.End())]
			if _, err := parser.ParseFile(token.NewFileSet(), "", declaration, 0); err == nil {
				m.edits = append(m.edits, edit{start, end, text, kind})
			}
			return
		}
	}
}
